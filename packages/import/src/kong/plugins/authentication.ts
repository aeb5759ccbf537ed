import type { Consumer } from '../consumers.ts'
import { markDefaults } from '../entities.ts'
import type { Plugin } from '../scopes.ts'
import type { Identity, ReadPlugin } from './plugin.ts'

/** An authentication plugin of Kong, in the form of a gateway policy. */
interface Authentication extends Pick<Identity, 'isOneOf' | 'isNobody' | 'name' | 'customId' | 'key'> {
  readonly plugin: Plugin
  readonly consumers: readonly Consumer[]
  readonly policy: string
  readonly value: object
}

export function authentication({ plugin, consumers, policy, value, ...identity }: Authentication): ReadPlugin {
  const { config } = plugin
  const hide = config.get('hide_credentials')
  hide?.carried()
  const anonymous = anonymousOf(plugin, consumers)
  markDefaults((name) => config.get(name), {
    run_on_preflight: {
      value: true,
      otherwise: 'OPTIONS requests need a credential, unless a cors policy responds to them',
    },
    realm: { value: null, otherwise: "the gateway's challenge has a fixed realm" },
  })
  return {
    identity: { ...identity, hidesCredential: hide?.isTrue === true, anonymous },
    effect: (state) => ({
      ...state,
      policies: { ...state.policies, [policy]: anonymous === null ? value : { mode: 'Optional', ...value } },
    }),
  }
}

/**
 * Finds the consumer that Kong assigns to requests without a credential. If the plugin names no such consumer, Kong
 * denies these requests.
 */
function anonymousOf({ config }: Plugin, consumers: readonly Consumer[]): Consumer | null {
  const field = config.get('anonymous')
  if (field === null || field.text === '') return null
  const found = consumers.find(({ name, field: each }) => [name, each.get('id')?.text].includes(field.text ?? ''))
  if (found === undefined) field.notCarried('no file has this consumer; requests without a credential are denied')
  else field.changed('the gateway denies requests with a wrong credential')
  return found ?? null
}

/** Returns an expression that is true when the value of another expression is one of the texts. */
export function textIn(expression: string, texts: readonly string[]): string {
  return texts.length === 0 ? 'false' : `${expression} in ${JSON.stringify(texts)}`
}

/**
 * Returns an expression that maps the value of another expression by a table. Without a difference in the table,
 * returns the other expression.
 */
export function lookup(expression: string, table: readonly (readonly [string, string])[]): string {
  if (table.every(([from, to]) => from === to)) return expression
  return `${JSON.stringify(Object.fromEntries(table))}[${expression}]`
}

/** Returns an expression for the `custom_id` of the client's consumer; null when no consumer has a `custom_id`. */
export function customIds(expression: string, table: readonly (readonly [string, Consumer])[]): string | null {
  const found = table.flatMap(([from, { customId }]) => (customId === null ? [] : [[from, customId] as const]))
  return found.length === 0 ? null : lookup(expression, found)
}
