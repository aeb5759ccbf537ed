import type { Field } from '../../core/yaml-field.ts'
import type { Consumer } from '../consumers.ts'
import { textsOf } from '../entities.ts'
import { variableOfText } from '../placeholders.ts'
import type { Plugin } from '../scopes.ts'
import { authentication, customIds, lookup, textIn } from './authentication.ts'
import { closes, type ReadPlugin, type Surroundings } from './plugin.ts'

interface ApiKey {
  readonly field: Field
  readonly consumer: Consumer
  readonly text: string
}

export function readKeyAuth(plugin: Plugin, { consumers, variables }: Surroundings): ReadPlugin {
  const { config } = plugin
  const names = config.get('key_names')
  const [header, query, body] = ['key_in_header', 'key_in_query', 'key_in_body'].map((name) => config.get(name))
  const list = textsOf(names).length === 0 ? ['apikey'] : textsOf(names)
  const [name = 'apikey', ...others] = list
  const isHeader = header?.text?.toLowerCase() !== 'false'
  const isQuery = query?.text?.toLowerCase() !== 'false'
  if (!isHeader && !isQuery) return closes(plugin, 'the plugin reads keys only from bodies')
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return closes(plugin, 'a name of its keys is not a header')
  if (others.length > 0) names?.changed(`the gateway reads keys only from ${name}`)
  else names?.carried()
  header?.carried()
  if (isHeader && isQuery) (query ?? config.field).changed(`the gateway reads keys only from the header ${name}`)
  else query?.carried()
  if (body?.isTrue === true) body.changed('the gateway does not read keys from bodies')
  else body?.carried('the value is the default')
  const keys = consumers.flatMap((consumer) =>
    (consumer.credentials.get('keyauth_credentials') ?? []).flatMap((credential): ApiKey[] => {
      const field = credential.get('key')
      credential
        .get('ttl')
        ?.notCarried('configure expires to end a key: docs/policies/traffic-api-key-authentication.md', true)
      return field?.text == null ? [] : [{ field, consumer, text: field.text }]
    }),
  )
  if (keys.length === 0) return closes(plugin, 'no consumer has a key')
  // When the key header is `Authorization` and all keys begin with `Bearer`, clients send the keys as bearer tokens.
  const isBearer = name.toLowerCase() === 'authorization' && keys.every(({ text }) => /^Bearer +\S/i.test(text))
  const entries = namedKeys(keys)
  const data = Object.fromEntries(entries.map(([entry, key]) => [entry, dataOfKey(key, isBearer, variables)]))
  const location = isHeader
    ? { header: { name: name.toLowerCase(), ...(isBearer && { prefix: 'Bearer ' }) } }
    : { queryParameter: { name } }
  const owners = entries.map(([entry, { consumer }]) => [entry, consumer] as const)
  return authentication({
    ...{ plugin, consumers, policy: 'apiKeyAuthentication', key: 'apiKey.name' },
    name: lookup(
      'apiKey.name',
      owners.map(([entry, consumer]) => [entry, consumer.name]),
    ),
    customId: customIds('apiKey.name', owners),
    isNobody: 'default(apiKey.name, "") == ""',
    isOneOf: (some) =>
      textIn(
        'default(apiKey.name, "")',
        owners.flatMap(([entry, consumer]) => (some.includes(consumer) ? [entry] : [])),
      ),
    value: { location, secretRef: { data } },
  })
}

/** Names each key by its consumer. Further keys of a consumer get a number. */
function namedKeys(keys: readonly ApiKey[]): [string, ApiKey][] {
  const found = new Map<string, ApiKey>()
  const seen = new Set<string>()
  for (const key of keys) {
    if (seen.has(key.text)) {
      key.field.notCarried('another credential has the same key')
      continue
    }
    seen.add(key.text)
    let name = key.consumer.name
    for (let number = 2; found.has(name); number++) name = `${key.consumer.name}-${number}`
    found.set(name, key)
  }
  return [...found]
}

/** Returns the data of a key: the key itself, or the environment variable that contains the key. */
function dataOfKey({ field, consumer, text }: ApiKey, isBearer: boolean, variables: Surroundings['variables']): object {
  const key = isBearer ? text.replace(/^Bearer +/i, '') : text
  const named = variables.ofText(key, variableOfText(key)?.toLowerCase().padEnd(16, '-example') ?? '')
  if (named !== null) {
    field.changed(`the value is taken from the environment variable ${named}`)
    return { env: named }
  }
  if (!/^[\x21-\x7e]{8,1024}$/.test(key)) {
    const name = variables.ofField(field, `KEY_OF_${consumer.name}`, `example-key-${field.at.line}-${field.at.column}`)
    field.changed(
      `the gateway accepts keys of 8 to 1024 characters without spaces; set the environment variable ${name}`,
      true,
    )
    return { env: name }
  }
  field.carried('the secret is in plain text; use keyHash to store only its hash')
  return { key }
}
