import { createHash } from 'node:crypto'
import type { Field } from '../../core/yaml-field.ts'
import type { Consumer } from '../consumers.ts'
import { hasPlaceholder } from '../placeholders.ts'
import type { Plugin } from '../scopes.ts'
import { authentication, customIds, lookup, textIn } from './authentication.ts'
import { closes, type ReadPlugin, type Surroundings } from './plugin.ts'

interface User {
  readonly consumer: Consumer
  readonly name: string
  /** The user and the hash as a line of an htpasswd file; null when the config has no usable password. */
  readonly line: string | null
}

const MOST_USERS = 256

export function readBasicAuth(plugin: Plugin, { consumers, variables }: Surroundings): ReadPlugin {
  const users = consumers.flatMap((consumer) =>
    (consumer.credentials.get('basicauth_credentials') ?? []).flatMap((field) => readUser(consumer, field) ?? []),
  )
  if (users.length === 0) return closes(plugin, 'no consumer has a user name')
  const lines = users.flatMap(({ line }) => line ?? [])
  const isKnown = lines.length === users.length && users.length <= MOST_USERS
  const variable = isKnown ? '' : variables.add('BASIC_AUTH_USERS', EXAMPLE)
  if (!isKnown)
    plugin.config.field.changed(
      `set the environment variable with the htpasswd lines of all users, made by htpasswd -B: ${variable}`,
      true,
    )
  const owners = users.map(({ name, consumer }) => [name, consumer] as const)
  const [only, ...others] = new Set(users.map(({ consumer }) => consumer))
  // A plugin with a single user identifies every authenticated client, even when the user's name is in a variable.
  const isOnly = only !== undefined && others.length === 0
  const isNobody = 'default(basicAuth.username, "") == ""'
  return authentication({
    ...{ plugin, consumers, policy: 'basicAuthentication', key: 'basicAuth.username', isNobody },
    name: isOnly
      ? `basicAuth.username == "" ? "" : ${JSON.stringify(only.name)}`
      : lookup(
          'basicAuth.username',
          owners.map(([name, consumer]) => [name, consumer.name]),
        ),
    customId: customIds('basicAuth.username', owners),
    isOneOf: (some) => {
      if (isOnly) return some.includes(only) ? `!(${isNobody})` : 'false'
      return textIn(
        'default(basicAuth.username, "")',
        owners.flatMap(([name, consumer]) => (some.includes(consumer) ? [name] : [])),
      )
    },
    value: isKnown ? { users: lines } : { secretRef: { env: variable } },
  })
}

/** An htpasswd line for the user `example` with the password `example`. */
const EXAMPLE = `example:${hashOf('example')}`

function hashOf(password: string): string {
  return `{SHA}${createHash('sha1').update(password).digest('base64')}`
}

function readUser(consumer: Consumer, credential: Field): User | null {
  const [name, password] = [credential.get('username'), credential.get('password')]
  if (name?.text == null || password?.text == null) return null
  const isUnknown =
    hasPlaceholder(name.text) ||
    hasPlaceholder(password.text) ||
    /[:\s]|[^\x20-\x7e]/.test(name.text) ||
    name.text === ''
  if (isUnknown || /^[0-9a-f]{40}$/.test(password.text)) {
    name.changed('add a line for this user to the environment variable with htpasswd lines')
    password.notCarried(
      isUnknown
        ? "the gateway's config contains only password hashes; add the hash to the environment variable"
        : 'the value may be a hash that only Kong can verify; set a new password',
      true,
    )
    return { consumer, name: name.text, line: null }
  }
  name.carried()
  password.changed('the config contains the password as a SHA-1 hash; replace the hash by one of htpasswd -B')
  return { consumer, name: name.text, line: `${name.text}:${hashOf(password.text)}` }
}
