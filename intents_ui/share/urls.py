"""URL routes of what others show of a transfer: share menus, QR codes, preview cards and embedded cards."""

from django.urls import path

from intents_ui.share import embed, views

urlpatterns = [
    path("intent/<identifier:intent_id>/card.png", views.card, name="card"),
    path("intent/<identifier:intent_id>/qr.svg", views.qr, name="qr"),
    path("intent/<identifier:intent_id>/share", views.share, name="share"),
    path("address/<identifier:address>/qr.svg", views.qr, name="address-qr"),
    path("address/<identifier:address>/share", views.share, name="address-share"),
    path("embed/intent/<identifier:intent_id>", embed.intent, name="embed"),
]
