import { defineCheck } from '../check.ts'

export const hostnameOutsideListener = defineCheck({
  code: 'hostname-outside-listener',
  severity: 'warning',
  summary: 'a hostname of a route that its listener does not serve',
  why: 'Requests are first given to a listener by their host. A route gets only requests for hosts of its listener.',
  fix: 'Change the hostname of the route or of the listener, or move the route to the listener of that host.',
  bad: `binds:
- port: 8080
  listeners:
  - hostname: "*.example.com"
    routes:
    - hostnames: [shop.example.org]
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - hostname: "*.example.com"
    routes:
    - hostnames: [shop.example.com]
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ routes }, report) {
    for (const { route, listener } of routes) {
      if (listener.hostname === '') continue
      for (const [index, name] of route.hostnames.entries()) {
        if (name === '*' || overlaps(name.toLowerCase(), listener.hostname)) continue
        const expected = `a host of \`${listener.hostname}\``
        report({ part: route, path: ['hostnames', index] }, { found: `found \`${name}\``, expected })
      }
    }
  },
})

/** Whether a host exists that both names match. */
function overlaps(one: string, other: string): boolean {
  if (one === other) return true
  const [suffix, otherSuffix] = [one, other].map((name) => (name.startsWith('*.') ? name.slice(1) : null))
  if (suffix == null && otherSuffix == null) return false
  if (suffix == null) return one.endsWith(otherSuffix ?? '')
  if (otherSuffix == null) return other.endsWith(suffix)
  return suffix.endsWith(otherSuffix) || otherSuffix.endsWith(suffix)
}
