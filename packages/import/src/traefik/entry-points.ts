import type { Field } from '../core/yaml-field.ts'
import { textsOf } from '../chain/field-directive.ts'

/** An entry point of Traefik's static configuration: a named port. */
export interface EntryPoint {
  readonly name: string
  readonly port: number
  readonly address: string | null
  readonly hasTls: boolean
  /** A redirect of all requests to another entry point; null when requests are not redirected. */
  readonly redirect: { readonly to: string; readonly status: number; readonly at: Field } | null
  readonly middlewares: readonly string[]
}

const STANDARD: Readonly<Record<string, number>> = { web: 80, websecure: 443, http: 80, https: 443 }

export function readEntryPoints(roots: readonly Field[]): EntryPoint[] {
  return roots.flatMap((root) =>
    (root.get('entryPoints')?.members ?? []).flatMap(([name, field]) => readEntryPoint(name, field) ?? []),
  )
}

function readEntryPoint(name: string, field: Field): EntryPoint | null {
  const address = field.get('address')
  const found = /^(\[[0-9a-fA-F:]+\]|[\d.]*):(\d{1,5})(\/tcp)?$/.exec(address?.text ?? '')
  const port = Number(found?.[2] ?? 0)
  if (found === null || port < 1 || port > 65_535) {
    field.notCarried('the address is not a TCP port')
    return null
  }
  address?.carried()
  const host = (found[1] ?? '').replaceAll(/[[\]]/g, '')
  const http = field.get('http')
  const tls = http?.get('tls') ?? null
  tls?.changed('the gateway obtains no certificates; put certificate files at the paths in the new config')
  const target = http?.get('redirections')?.get('entryPoint') ?? null
  const middlewares = http?.get('middlewares') ?? null
  middlewares?.carried()
  target?.carried()
  field
    .get('forwardedHeaders')
    ?.notCarried('frontend.forwardedHeaders decides which forwarding headers of clients are trusted')
  field
    .get('proxyProtocol')
    ?.notCarried('configure frontend.proxyProtocol: docs/policies/frontend-proxy-protocol.md', true)
  field.get('transport')?.notCarried('configure the time limits for clients in frontend.http')
  const isPermanent = target?.get('permanent')?.text !== 'false'
  return {
    ...{
      name,
      port,
      address: ['', '0.0.0.0', '::'].includes(host) ? null : host,
      hasTls: tls !== null,
      middlewares: textsOf(middlewares),
    },
    redirect:
      target === null ? null : { to: target.get('to')?.text ?? '', status: isPermanent ? 301 : 302, at: target },
  }
}

/** Returns an entry point that Traefik defines by default; null for unknown names. */
export function standardEntryPoint(name: string): EntryPoint | null {
  const port = STANDARD[name]
  return port === undefined ? null : { name, port, address: null, hasTls: false, redirect: null, middlewares: [] }
}
