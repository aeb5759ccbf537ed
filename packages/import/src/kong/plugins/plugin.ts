import { FIRST_STATE, type State } from '../../chain/state.ts'
import { positionText } from '../../core/source.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { Consumer } from '../consumers.ts'
import { variableOfText } from '../placeholders.ts'
import type { Plugin } from '../scopes.ts'

/** The facts that plugins of all routes share. */
export interface Surroundings {
  readonly consumers: readonly Consumer[]
  readonly variables: Variables
  /** Policies of the gateway, which plugins for all routes fill. */
  readonly frontend: Record<string, unknown>
}

/** The facts of a route. */
export interface RouteFacts {
  readonly isTls: boolean
  readonly identities: readonly Identity[]
}

/** How later policies see the client that an authentication plugin identified, as CEL. */
export interface Identity {
  /** True for clients that are one of the consumers. */
  isOneOf(this: void, consumers: readonly Consumer[]): string
  /** True for clients without a credential. */
  readonly isNobody: string
  /** The name of the consumer. */
  readonly name: string
  /** The id that the consumer has elsewhere; null when no consumer has one. */
  readonly customId: string | null
  /** A key for rate limits. */
  readonly key: string
  /** Whether the service does not get the credential. */
  readonly hidesCredential: boolean
  /** The consumer of requests without a credential; null when they are denied. */
  readonly anonymous: Consumer | null
}

/** An expression for the clients that are one of the consumers; null when the route identifies nobody. */
export function conditionOf(consumers: readonly Consumer[], identities: readonly Identity[]): string | null {
  if (identities.length === 0) return null
  const parts = identities.map(({ isOneOf }) => isOneOf(consumers))
  const isAnonymous = identities.some(({ anonymous }) => anonymous !== null && consumers.includes(anonymous))
  const nobody = identities.map(({ isNobody }) => isNobody).join(' && ')
  const all = [
    ...parts.filter((part) => part !== 'false'),
    ...(isAnonymous ? [parts.length > 1 ? `(${nobody})` : nobody] : []),
  ]
  return all.length === 0 ? 'false' : all.join(' || ')
}

/** A response of the gateway; without a condition, it ends the route. */
export interface Reply {
  readonly condition?: string
  readonly policy: { readonly status: number; readonly body?: string; readonly headers?: readonly object[] }
}

/** The effects of the plugins that a request passed. */
export interface PluginState extends State {
  readonly replies: readonly Reply[]
  /** Calls of CEL that change the query of upstream requests. */
  readonly queryCalls: readonly string[]
  /** A path in place of that of the client and the service. */
  readonly newPath: string | null
  /** A language model in place of the service. */
  readonly model: { readonly ai: object; readonly policies?: object } | null
  /** The `ai` policy of the model. */
  readonly ai: Readonly<Record<string, unknown>>
}

export const FIRST_PLUGIN_STATE: PluginState = {
  ...FIRST_STATE,
  replies: [],
  queryCalls: [],
  newPath: null,
  model: null,
  ai: {},
}

/**
 * Adds the effect of a plugin to a route. `when` is an expression for the clients that it applies to; null for all of
 * them. Null as a result denies all of these requests.
 */
export type Effect = (state: PluginState, when: string | null, route: RouteFacts) => PluginState | null

export interface ReadPlugin {
  readonly effect: Effect
  /** Null for plugins that identify nobody. */
  readonly identity: Identity | null
}

/** Reads a plugin once, and marks the fields of its config. */
export type PluginReader = (plugin: Plugin, surroundings: Surroundings) => ReadPlugin

export const KEEPS: ReadPlugin = { effect: (state) => state, identity: null }

export function effectOf(effect: Effect): ReadPlugin {
  return { effect, identity: null }
}

/** Denies the requests of a plugin that cannot be imported. */
export function closes({ entity }: Plugin, why: string): ReadPlugin {
  entity.field.notCarried(`${why}; requests get 403 until you replace it`, true)
  return effectOf((state, when) => (when === null ? null : withDenial(state, when)))
}

function withDenial(state: PluginState, expression: string): PluginState {
  return { ...state, denials: [...state.denials, expression] }
}

/** A denial for some of the clients. */
export function deniedIf(state: PluginState, when: string | null, expression: string): PluginState {
  return withDenial(state, when === null ? expression : `(${when}) && (${expression})`)
}

/** Environment variables of the new config, with values for tests. */
export class Variables {
  readonly #values = new Map<string, string>()
  readonly #names = new Map<string, string>()

  add(name: string, value: string): string {
    if (!this.#values.has(name)) this.#values.set(name, value)
    return name
  }

  /** The variable that a text names; null for other texts. */
  ofText(text: string, value: string): string | null {
    const name = variableOfText(text)
    return name === null ? null : this.add(name, value)
  }

  /** A new variable for a field, such as a secret. */
  ofField(field: Field, wanted: string, value: string): string {
    const key = positionText(field.at)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const base = wanted
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_')
    let name = base
    for (let number = 2; this.#values.has(name); number++) name = `${base}_${number}`
    this.#names.set(key, name)
    return this.add(name, value)
  }

  get values(): Record<string, string> {
    return Object.fromEntries(this.#values)
  }
}
