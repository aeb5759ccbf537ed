import { defineCheck } from '../check.ts'

export const hostnameOfOtherListener = defineCheck({
  code: 'hostname-of-other-listener',
  severity: 'warning',
  summary: 'a hostname of a route that another listener of the port takes',
  why: 'The listener with the most specific hostname gets the request. A route of a more general listener never sees the hosts of the other one, even if that has no route for them.',
  fix: 'Move the route to the listener that has this hostname.',
  bad: `binds:
- port: 8080
  listeners:
  - name: all
    routes:
    - hostnames: [shop.example.com]
      backends: [{ host: "127.0.0.1:9000" }]
  - name: shop
    hostname: shop.example.com
    routes:
    - matches: [{ path: { pathPrefix: /cart } }]
      backends: [{ host: "127.0.0.1:9001" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - name: all
    routes:
    - hostnames: [blog.example.com]
      backends: [{ host: "127.0.0.1:9000" }]
  - name: shop
    hostname: shop.example.com
    routes:
    - backends: [{ host: "127.0.0.1:9001" }]
`,
  run({ routes, ir }, report) {
    for (const { route, listener } of routes) {
      const others = ir.listeners.filter(({ bind, key }) => bind === listener.bind && key !== listener.key)
      for (const [index, name] of route.hostnames.entries()) {
        const taker = others.find(({ hostname }) => hostname !== '' && hostname === name.toLowerCase())
        if (taker === undefined || listener.hostname === taker.hostname) continue
        const found = `found \`${name}\`, which the listener \`${taker.name}\` of the same port serves`
        report({ part: route, path: ['hostnames', index] }, { found, expected: 'the route in that listener' })
      }
    }
  },
})
