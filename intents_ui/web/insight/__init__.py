"""What pages say of many transfers: who may see it, and names and addresses of what figures are of."""
