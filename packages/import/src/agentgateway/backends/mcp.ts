import type { Field } from '../../core/yaml-field.ts'
import { merge, readPolicies } from '../policies/effects.ts'
import { MCP_TARGET_POLICIES } from '../policies/tables.ts'
import {
  capitalized,
  choice,
  type ClosedStatus,
  dictionary,
  list,
  lost,
  mapping,
  membersOf,
  scalar,
  type Scope,
} from '../values/convert.ts'
import { amendOthers, type ReadBackend, UNKNOWN, worst } from './ai.ts'

/** Reads a backend that consists of MCP servers. */
export function readMcp(field: Field, scope: Scope): ReadBackend {
  const targets = field.get('targets')?.items ?? []
  const read = targets.map((target) => readTarget(target, scope))
  if (read.length === 0) lost(field, 'the MCP backend has no target; requests get 501')
  const settings = membersOf(
    field,
    {
      statefulMode: ['sessionRouting', capitalized('stateful', 'stateless')],
      prefixMode: capitalized('always', 'conditional', 'never'),
      failureMode: choice({ failOpen: 'FailOpen', failClosed: 'FailClosed' }),
    },
    scope,
  )
  return {
    backend: { mcp: { targets: read.map(({ target }) => target), ...settings } },
    policies: {},
    status: read.length === 0 ? 501 : worst(read.map(({ status }) => status)),
    tested: UNKNOWN,
  }
}

interface ReadTarget {
  readonly target: object
  readonly status: ClosedStatus | null
}

function readTarget(field: Field, scope: Scope): ReadTarget {
  const name = field.get('name')
  name?.carried()
  const kind = ['mcp', 'sse', 'stdio', 'openapi'].find((each) => field.get(each) !== null)
  const settings = kind === undefined ? null : field.get(kind)
  const effects = readPolicies(field.get('policies'), MCP_TARGET_POLICIES, scope, 'backend')
  const found =
    settings === null
      ? lost(field, 'expected mcp, sse, stdio or openapi')
      : kind === 'stdio'
        ? readProgram(settings, scope)
        : readServer(settings, scope, kind ?? 'mcp', effects.policies)
  const isLost = amendOthers(field)
  return {
    target: { name: name?.text ?? '', ...found },
    status: worst([effects.status, found === undefined || isLost ? 501 : null]),
  }
}

function readProgram(field: Field, scope: Scope): object {
  const found = membersOf(
    field,
    { cmd: scalar, args: list(scalar), env: dictionary(), clear_env: scalar, clearEnv: scalar },
    scope,
  )
  if (found['clearEnv'] === undefined)
    field
      .get('cmd')
      ?.changed('the program inherits only basic environment variables; add others to env, or set clearEnv: false')
  return { stdio: found }
}

function readServer(
  field: Field,
  scope: Scope,
  kind: string,
  own: Readonly<Record<string, unknown>>,
): object | undefined {
  const address = addressOf(field, scope)
  if (address === undefined) return undefined
  const policies: Record<string, unknown> = { ...own }
  if (address.isTls && !('tls' in policies)) merge(policies, { tls: {} })
  const shared = { ...address.members, ...(Object.keys(policies).length > 0 && { policies }) }
  if (kind !== 'openapi') {
    const protocol = kind === 'sse' ? { protocol: 'SSE' } : {}
    return { static: { ...shared, ...(address.path !== undefined && { path: address.path }), ...protocol } }
  }
  const schema = field.get('schema')
  if (schema === null) return lost(field, 'the OpenAPI target has no schema')
  schema.get('url')?.notCarried('Portico reads the schema from a file; download the document')
  const text = schema.isMapping ? mapping({ file: scalar })(schema, scope) : { inline: scalar(schema, scope) }
  return { openapi: { ...shared, schema: text } }
}

interface ServerAddress {
  readonly members: Readonly<Record<string, unknown>>
  readonly path: unknown
  readonly isTls: boolean
}

/** Reads the address of an MCP server: `host`, `port` and `path`, a URL in `host`, or the name of a backend. */
function addressOf(field: Field, scope: Scope): ServerAddress | undefined {
  const { path, port } = membersOf(field, { path: scalar, port: scalar }, scope)
  const backend = field.get('backend')
  if (backend !== null) {
    const name = scope.backends.named(backend.text ?? '')
    if (typeof name !== 'string') return lost(backend, 'the named backend is missing or cannot be imported')
    backend.carried()
    return { members: { backendRef: { name } }, path, isTls: false }
  }
  const host = field.get('host')
  if (host?.text == null) return lost(field, 'the MCP target has no host')
  if (port !== undefined) {
    const value = scalar(host, scope)
    return { members: { host: value, port }, path, isTls: false }
  }
  const text = host.text.includes('://') ? host.text : `http://${host.text}`
  if (text.includes('$') || !URL.canParse(text)) return lost(host, 'expected a URL; write variables to host and port')
  const { protocol, hostname, port: own, pathname, search, username } = new URL(text)
  if (!['http:', 'https:'].includes(protocol) || search !== '' || username !== '')
    return lost(host, 'expected a URL without query and user')
  host.carried()
  const isTls = protocol === 'https:'
  const number = own === '' ? (isTls ? 443 : 80) : Number(own)
  return { members: { host: hostname.replaceAll(/^\[|\]$/g, ''), port: number }, path: pathname, isTls }
}
