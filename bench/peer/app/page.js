// The rows of the history as a page of Next.js, rendered on the server for each request. `request` is the service's
// request. The service may leave out any field.

export const dynamic = 'force-dynamic'

const FIRST_PAGE = '{"page":{"sort":[{"column":"createdAt","order":"DESC"}],"pageSize":20}}'

// Made once, because making them costs more than the rest of a row.
const NUMBER = new Intl.NumberFormat('en')
const MOMENT = new Intl.DateTimeFormat('en', {
  day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hour12: false, timeZone: 'UTC',
})

async function history(request) {
  const response = await fetch(`${process.env.SERVICE_URL}/rpc/Service/GetIntentHistory`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: request,
    cache: 'no-store',
  })
  if (!response.ok) throw new Error(`The service answered ${response.status}`)
  return (await response.json()).intents ?? []
}

function amount(units, decimals) {
  if (units == null) return '—'
  const digits = String(units).padStart((decimals ?? 0) + 1, '0')
  const whole = digits.slice(0, digits.length - (decimals ?? 0))
  const fraction = digits.slice(whole.length).replace(/0+$/, '')
  return NUMBER.format(whole) + (fraction && `.${fraction.slice(0, 6)}`)
}

const short = (text) => (text ? `${text.slice(0, 6)}…${text.slice(-4)}` : '—')

function Token({ units, metadata, address, chain }) {
  return (
    <span className="token" title={metadata?.name ?? address ?? ''}>
      {metadata?.logoUri && <img src={metadata.logoUri} alt="" width="20" height="20" loading="lazy" />}
      <b>{amount(units, metadata?.decimals)}</b> {metadata?.symbol ?? short(address)}
      <small>on chain {chain ?? '—'}</small>
    </span>
  )
}

function Moment({ at }) {
  if (!at) return '—'
  const shown = new Date(at)
  return <time dateTime={at} title={shown.toUTCString()}>{MOMENT.format(shown)}</time>
}

function Address({ of }) {
  return (
    <a href={`/address/${of}`} title={of}>
      {short(of)}
    </a>
  )
}

function Row({ intent }) {
  const receipt = intent.receipt ?? {}
  const summary = receipt.summary ?? {}
  return (
    <tr id={`row-${intent.intentId}`}>
      <td>
        <a href={`/intent/${intent.intentId}`}>{(intent.status ?? 'UNKNOWN').toLowerCase().replaceAll('_', ' ')}</a>
      </td>
      <td><Moment at={intent.createdAt} /></td>
      <td>
        <Token
          units={summary.originTokenAmount}
          metadata={summary.originTokenMetadata}
          address={summary.originTokenAddress}
          chain={summary.originChainId}
        />
      </td>
      <td>
        <Token
          units={summary.destinationTokenAmount}
          metadata={summary.destinationTokenMetadata}
          address={summary.destinationTokenAddress}
          chain={summary.destinationChainId}
        />
      </td>
      <td>
        <Address of={summary.ownerAddress} /> → <Address of={summary.destinationToAddress ?? summary.ownerAddress} />
      </td>
      <td>
        {(summary.routeProviders ?? []).join(', ') || '—'} <Moment at={summary.finishedAt ?? intent.updatedAt} />
      </td>
    </tr>
  )
}

const COLUMNS = ['Status', 'Created', 'Sent', 'Received', 'Owner', 'Route']

export default async function History({ searchParams }) {
  const intents = await history((await searchParams).request ?? FIRST_PAGE)
  return (
    <main>
      <h1>History</h1>
      <table>
        <thead>
          <tr>
            {COLUMNS.map((column) => <th key={column} scope="col">{column}</th>)}
          </tr>
        </thead>
        <tbody>
          {intents.map((intent) => <Row key={intent.intentId} intent={intent} />)}
        </tbody>
      </table>
    </main>
  )
}
