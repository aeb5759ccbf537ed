import type { Field } from '../core/yaml-field.ts'
import { Entity, markDefaults, referenceOf } from './entities.ts'

/** A Kong upstream: a named group of servers, which services use as their host. */
interface Upstream {
  readonly name: string
  readonly field: Field
  readonly targets: readonly Field[]
  /** The `Host` that servers get; null when each server gets its own name. */
  readonly hostHeader: string | null
  /** Policies for the routes whose service has this upstream as its host. */
  readonly policies: Readonly<Record<string, unknown>>
}

export type Upstreams = ReadonlyMap<string, Upstream>

export function readUpstreams(roots: readonly Field[]): Upstreams {
  const all = (name: string): Field[] => roots.flatMap((root) => [...(root.get(name)?.items ?? [])])
  const found = all('upstreams').map((field): Upstream => {
    const entity = new Entity(field, null)
    entity.markLabels()
    const names = [field.get('name')?.text, field.get('id')?.text]
    field.get('name')?.carried()
    const own = all('targets').filter((target) => names.includes(referenceOf(target.get('upstream'))))
    for (const each of own) each.get('upstream')?.carried()
    const header = field.get('host_header')
    header?.carried()
    markOptions(field)
    return {
      ...{ name: names[0] ?? '', field, targets: [...(field.get('targets')?.items ?? []), ...own] },
      hostHeader: header?.text ?? null,
      policies: stickyPolicy(field),
    }
  })
  return new Map(found.map((upstream) => [upstream.name, upstream]))
}

interface Target {
  readonly host: string
  readonly port: number
  readonly weight: number
}

/** Reads the targets of an upstream that get requests. An address without a port has Kong's default port, 8000. */
export function readTargets({ targets }: Upstream): Target[] {
  return targets.flatMap((field) => {
    new Entity(field, null).markLabels()
    const [target, weight] = [field.get('target'), field.get('weight')]
    const [, host = '', port = '8000'] = /^(\[.*\]|[^:]*)(?::(\d{1,5}))?$/.exec(target?.text ?? '') ?? []
    if (host === '') {
      target?.notCarried('the target is not a host with a port')
      return []
    }
    target?.carried()
    weight?.carried()
    const share = weight?.number ?? 100
    return [{ host, port: Number(port), weight: Number.isInteger(share) && share >= 0 ? Math.min(share, 65_535) : 100 }]
  })
}

/** Reads session persistence by cookie. Kong's other hash keys have no counterpart. */
function stickyPolicy(field: Field): Record<string, unknown> {
  const [on, cookie] = [field.get('hash_on'), field.get('hash_on_cookie')]
  if (on?.text === 'cookie') {
    on.changed("the gateway chooses the cookie's value")
    cookie?.carried()
    field.get('hash_on_cookie_path')?.carried()
    const name = cookie?.text ?? ''
    return { sessionPersistence: /^[\w-]+$/.test(name) ? { sessionName: name } : {} }
  }
  if (on === null || on.text === 'none') on?.carried('the value is the default')
  else
    on.notCarried('the gateway distributes requests by load; a sessionPersistence policy keeps a client at one server')
  return {}
}

function markOptions(field: Field): void {
  const algorithm = field.get('algorithm')
  algorithm?.changed('the gateway uses the faster of two random addresses: docs/backends.md')
  field.get('slots')?.carried('the field has no effect on requests')
  const checks = field.get('healthchecks')
  if (checks !== null) {
    const isActive = ['http', 'healthy', 'unhealthy'].some(
      (name) => (checks.get('active')?.get(name)?.members ?? []).length > 0,
    )
    if (isActive)
      checks
        .get('active')
        ?.notCarried('the gateway sends no health checks; a health policy learns from traffic: docs/backends.md')
    else checks.get('active')?.carried('the value is the default')
    checks
      .get('passive')
      ?.notCarried('configure a health policy, which evicts failing backends: docs/policies/backend-health.md')
    checks
      .get('threshold')
      ?.notCarried('configure a health policy, which evicts failing backends: docs/policies/backend-health.md')
  }
  field.get('client_certificate')?.notCarried('configure mtlsCertificateRef: docs/policies/backend-tls.md')
  markDefaults((name) => field.get(name), {
    hash_fallback: { value: 'none', otherwise: 'sessionPersistence chooses another server by itself when one fails' },
    use_srv_name: { value: false, otherwise: 'the gateway reads no SRV records' },
    hash_on_cookie_path: { value: '/', otherwise: 'the field has no effect, because the gateway uses no cookie' },
  })
}
