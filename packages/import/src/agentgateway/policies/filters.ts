import type { ExpressionPhase } from '../../core/import-result.ts'
import type { Field } from '../../core/yaml-field.ts'
import {
  type Convert,
  dictionary,
  implied,
  list,
  lost,
  mapping,
  type Members,
  membersOf,
  missing,
  pairs,
  scalar,
  type Scope,
} from '../values/convert.ts'
import { conditional, expression, literalOf } from '../values/expressions.ts'
import { destinationOf } from '../values/targets.ts'

export const cors: Convert = mapping({
  allowCredentials: scalar,
  allowHeaders: list(scalar),
  allowMethods: list(scalar),
  allowOrigins: list(scalar),
  exposeHeaders: list(scalar),
  maxAge: scalar,
})

const fixedHeaders = pairs('name', 'value')

/** Reads header changes with literal values. */
export const headerChanges: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  return nonEmpty(membersOf(field, { add: fixedHeaders, set: fixedHeaders, remove: list(scalar) }, scope))
}

/** Leaves out empty lists, which Portico policies do not accept. */
function nonEmpty(members: Record<string, unknown>): Record<string, unknown> | undefined {
  const found = Object.entries(members).filter(([, value]) => !Array.isArray(value) || value.length > 0)
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/**
 * Reads header and body changes whose values are CEL expressions. `phase` is the phase in which the gateway evaluates
 * them.
 */
function transform(phase: ExpressionPhase): Convert {
  const computed = expression(phase)
  const headers = pairs('name', 'value', computed)
  const members: Members = {
    set: headers,
    add: headers,
    remove: list(scalar),
    body: computed,
    metadata: dictionary(computed),
    replace: missing('Portico cannot replace all headers; use set and remove'),
  }
  return (field, scope) =>
    field.isMapping ? nonEmpty(membersOf(field, members, scope)) : lost(field, 'expected a mapping')
}

export const transformation: Convert = mapping({ request: transform('request'), response: transform('response') })
export const backendTransformation: Convert = mapping({
  request: transform('backend'),
  response: transform('response'),
})

const path: Convert = mapping({ full: scalar, prefix: scalar })

export const requestRedirect: Convert = (field, scope) =>
  mapping({
    scheme: scalar,
    authority: (each, inner) => {
      if (each.isMapping) return mapping({ full: scalar, host: scalar, port: scalar })(each, inner)
      return lost(each, 'expected full, host or port')
    },
    path,
    status: scalar,
  })(field, scope)

/**
 * Reads rewrites of the path and the authority. The authority values `auto` and `none` become a policy of their own.
 */
export const urlRewrite: Convert = (field, scope) => {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const authority = field.get('authority')
  const word = authority?.text ?? authority?.members[0]?.[0]
  const mode = word === 'auto' ? 'Auto' : word === 'none' ? 'None' : null
  if (mode !== null) authority?.carried()
  const rewrite = membersOf(
    field,
    { path, ...(mode === null && { authority: mapping({ full: scalar, host: scalar, port: scalar }) }) },
    scope,
  )
  return {
    ...(mode !== null && { hostRewrite: { mode } }),
    ...(Object.keys(rewrite).length > 0 && { urlRewrite: rewrite }),
  }
}

export const requestMirror: Convert = (field, scope) => {
  const backend = field.get('backend')
  const host = backend?.get('host') ?? null
  const name = backend?.get('backend') ?? null
  const percentage = field.get('percentage')
  const found = name?.text != null ? namedBackend(name, scope) : host === null ? null : hostOf(host, scope)
  if (found == null) return lost(field, 'the backend of the mirror cannot be imported')
  ;(name ?? host)?.changed('copies of requests include the body')
  if (percentage !== null && percentage.number === null) return lost(percentage, 'expected a number')
  percentage?.carried()
  return { backend: found, ...(percentage !== null && { percentage: (percentage.number ?? 0) * 100 }) }
}

function namedBackend(field: Field, { backends }: Scope): string | null {
  const name = backends.named(field.text ?? '')
  return typeof name === 'string' ? name : null
}

function hostOf(field: Field, scope: Scope): unknown {
  const found = destinationOf(field, scope)
  return typeof found === 'string' || found.isTls ? null : found.host
}

export const directResponse: Convert = conditional((field, scope) =>
  mapping({
    status: scalar,
    body: (each, inner) => {
      if (each.text === '') return implied('empty', '')(each, inner)
      if (each.text !== null) return scalar(each, inner)
      const bytes = each.items.map(({ number }) => number)
      if (bytes.some((byte) => byte === null)) return lost(each, 'expected a text')
      each.carried()
      return bytes.length === 0 ? undefined : new TextDecoder().decode(Uint8Array.from(bytes as number[]))
    },
    bodyExpression: missing("Portico's direct responses have a fixed body; a transformation can compute a body"),
    headers: pairs('name', 'value', (each, inner) => {
      const value = scalar(each, inner)
      return (
        (typeof value === 'string' ? literalOf(value) : null) ??
        lost(each, "Portico's direct responses have headers with fixed values")
      )
    }),
  })(field, scope),
)

export const delay: Convert = mapping({ duration: ['time', scalar] })
