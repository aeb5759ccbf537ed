/** Runs when no file is given: something to talk to, reachable from this machine alone. */
export const QUICK_START = `config:
  statsAddr: 127.0.0.1:15020
  readinessAddr: 127.0.0.1:15021
binds:
- port: \${PORT:-3000}
  address: 127.0.0.1
  listeners:
  - name: quick-start
    protocol: HTTP
    routes:
    - name: hello
      matches: [{ path: { pathPrefix: / } }]
      policies:
        directResponse:
          status: 200
          headers: [{ name: content-type, value: application/json }]
          body: '{"hello":"from Portico","next":"write a gateway.yaml and run: npx portico -f gateway.yaml"}'
`
