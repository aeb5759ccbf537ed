import { Template, withoutAbsent } from '../core/config-yaml.ts'
import type { Statement } from '../core/statement.ts'
import type { Environment } from './environment.ts'
import { templateOf, variablesOf } from './placeholders.ts'
import { closed } from '../chain/replies.ts'
import type { Handler } from '../chain/routes.ts'
import type { State } from '../chain/state.ts'
import { readUpstream } from './upstreams.ts'

/** The password hash for tests, in place of a hash in an environment variable. */
const SAMPLE_HASH = '$2y$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO'

/** Reads the directive `basic_auth` with its accounts. */
export function basicAuth(statement: Statement, words: readonly string[], env: Environment): Handler[] {
  const [algorithm = 'bcrypt', realm] = words
  const users: (string | Template)[] = []
  let isBroken = algorithm !== 'bcrypt'
  for (const line of statement.block ?? []) {
    const user = userOf(line.name, line.args[0] ?? '', env)
    if (user === null || line.args.length !== 1) {
      line.notCarried('the password hash is not bcrypt', true)
      isBroken = true
    } else {
      line.carried()
      users.push(user)
    }
  }
  if (isBroken || users.length === 0) {
    statement.notCarried('the accounts cannot be imported; requests get 403 until you configure a replacement', true)
    return [closed(statement)]
  }
  statement.carried()
  const policy = withoutAbsent({
    realm: realm !== undefined && /^[\x20-\x7e]{1,100}$/.test(realm) && !/["\\{]/.test(realm) ? realm : undefined,
    users,
  })
  return guard(statement, 'basicAuthentication', policy)
}

function userOf(name: string, text: string, env: Environment): string | Template | null {
  const [nameVariables, hashVariables] = [variablesOf(name), variablesOf(text)]
  if (nameVariables.length + hashVariables.length > 0) {
    const template = templateOf(`${name}:${text}`)
    for (const variable of nameVariables) env.use(variable, 'ann')
    for (const variable of hashVariables) env.use(variable, SAMPLE_HASH)
    return template
  }
  // In older versions of Caddy, the hash is encoded in Base64.
  const hash = text.startsWith('$') ? text : Buffer.from(text, 'base64').toString('latin1')
  const isValid = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(hash) && Number(hash.slice(4, 6)) <= 15
  return isValid && /^[^\s:]+$/.test(name) ? `${name}:${hash}` : null
}

/**
 * Sets a policy that each request must pass. A route can have one policy of each kind, so requests that would have to
 * pass a second policy are denied.
 */
function guard(statement: Statement, name: string, policy: object): Handler[] {
  const apply = (state: State): State => {
    const known = state.policies[name]
    if (known === undefined || known === policy) return { ...state, policies: { ...state.policies, [name]: policy } }
    statement.notCarried(
      'an earlier policy of the same kind applies to these requests; requests get 403 until you configure a replacement',
      true,
    )
    return { ...state, denials: [...state.denials, 'true'] }
  }
  return [{ kind: 'effect', apply, applyIf: null, ifUnsure: apply }]
}

/** Reads the directive `forward_auth UPSTREAM { uri PATH; copy_headers … }`. */
export function forwardAuth(statement: Statement, words: readonly string[], env: Environment): Handler[] {
  const upstream = readUpstream(words[0] ?? '', env)
  const close = (why: string): Handler[] => {
    statement.notCarried(`${why}; requests get 403 until you configure a replacement`, true)
    return [closed(statement)]
  }
  if (typeof upstream === 'string' || words.length > 1)
    return close(typeof upstream === 'string' ? upstream : 'the authorizer has several upstreams')
  if (upstream.isTls || typeof upstream.host !== 'string')
    return close('the authorizer needs a named backend; configure an extAuth policy')
  let path = '/'
  const copied: string[] = []
  const lines = statement.block ?? []
  for (const line of lines) {
    const names = [...line.args, ...(line.block ?? []).flatMap(({ name, args }) => [name, ...args])]
    if (line.name === 'uri') path = line.args[0] ?? '/'
    else if (line.name === 'copy_headers') {
      if (names.some((name) => name.includes('>'))) return close('copy_headers renames headers')
      copied.push(...names.map((name) => name.toLowerCase()))
      for (const each of line.block ?? []) each.carried()
    } else if (
      line.name === 'header_up' &&
      ['X-Forwarded-Method', 'X-Forwarded-Uri', 'Host'].includes(line.args[0] ?? '')
    ) {
      line.changed("the authorizer gets its own name as Host, and the client's Host in x-forwarded-host")
      continue
    } else {
      line.notCarried('configure an extAuth policy: docs/forward-auth.md', true)
      return close('forward_auth has an option without a counterpart')
    }
    line.carried()
  }
  if (/[{}]/.test(path) || !path.startsWith('/')) return close('the path of the authorizer has placeholders')
  statement.changed(
    "of the client's headers, the authorizer gets only authorization, cookie, accept and user-agent",
    true,
  )
  const policy = {
    backendRef: { host: upstream.host },
    http: withoutAbsent({
      path: JSON.stringify(path),
      allowedRequestHeaders: ['accept', 'authorization', 'cookie', 'user-agent'],
      addRequestHeaders: {
        'x-forwarded-host': 'request.host',
        'x-forwarded-method': 'request.method',
        'x-forwarded-proto': 'request.scheme',
        'x-forwarded-uri': 'request.pathAndQuery',
      },
      allowedResponseHeaders: copied.length === 0 ? undefined : copied,
    }),
  }
  return guard(statement, 'extAuth', policy)
}
