import { commented, Variable, withoutAbsent } from '../core/config-yaml.ts'
import { positionText } from '../core/source.ts'
import { coversHost, type Certificate, type HttpPort, type HttpRule, variableOfHost } from './model.ts'
import { orderedRoutes } from './order.ts'

/** Prints the `binds` of the config. */
export function printPorts(ports: readonly HttpPort[]): object[] {
  return ports.map(({ port, address, certificates, policies, rules }) =>
    withoutAbsent({
      port,
      address: address ?? undefined,
      listeners: listenersOf(certificates, port).map(({ certificate, name }) =>
        withoutAbsent({
          name,
          ...(certificate === null ? {} : tlsOf(certificate)),
          policies: Object.keys(policies).length === 0 ? undefined : policies,
          routes: printRoutes(rules.flatMap((rule) => restrict(rule, certificate?.hostname ?? null) ?? [])),
        }),
      ),
    }),
  )
}

function listenersOf(
  certificates: readonly Certificate[] | null,
  port: number,
): { name: string; certificate: Certificate | null }[] {
  if (certificates === null) return [{ name: `http-${port}`, certificate: null }]
  return certificates.map((certificate) => ({
    name:
      certificate.hostname === null
        ? `https-${port}`
        : certificate.hostname.replace('*', 'any').replaceAll(/[${}]/g, '').slice(0, 63),
    certificate,
  }))
}

function tlsOf({ hostname, cert, key, root, clientCertificates }: Certificate): object {
  return withoutAbsent({
    protocol: 'HTTPS',
    hostname: hostname === null ? undefined : printHost(hostname),
    tls: withoutAbsent({ cert, key, root: root ?? undefined, clientCertificates }),
  })
}

/** Prints a hostname, which may be an environment variable (`${NAME}`). */
function printHost(host: string): string | Variable {
  const name = variableOfHost(host)
  return name === null ? host : new Variable(name)
}

/** Limits a rule to the hostname of a listener; returns null when the rule takes none of its hosts. */
function restrict(rule: HttpRule, hostname: string | null): HttpRule | null {
  if (hostname === null || rule.hosts.length === 0) return rule
  const hosts = rule.hosts.filter((host) => coversHost(hostname, host))
  if (hosts.length > 0) return { ...rule, hosts }
  return rule.hosts.some((host) => coversHost(host, hostname)) ? { ...rule, hosts: [] } : null
}

function printRoutes(rules: readonly HttpRule[]): object[] {
  const names = new Set<string>()
  return orderedRoutes(rules).map(({ rule, hostnames, matches }) =>
    commented(
      withoutAbsent({
        name: uniqueRouteName(rule.name, names),
        hostnames: hostnames.length === 0 ? undefined : hostnames.map(printHost),
        matches,
        policies: Object.keys(rule.policies).length === 0 ? undefined : rule.policies,
        backends: rule.backends.length === 0 ? undefined : rule.backends,
      }),
      `${positionText(rule.at)} ${rule.source}`.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, 200),
    ),
  )
}

/** Returns a valid route name that no other route has. */
function uniqueRouteName(text: string, names: Set<string>): string {
  const slug = text
    .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 50)
    .replaceAll(/[-.]+$/g, '')
  const base = slug === '' ? 'route' : slug
  let name = base
  for (let number = 2; names.has(name); number++) name = `${base}-${number}`
  names.add(name)
  return name
}
