import { FIRST_STATE, type State } from '../../chain/state.ts'
import { positionText } from '../../core/source.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { Consumer } from '../consumers.ts'
import { variableOfText } from '../placeholders.ts'
import type { Plugin } from '../scopes.ts'

/** The data that the plugins of all routes share. */
export interface Surroundings {
  readonly consumers: readonly Consumer[]
  readonly variables: Variables
  /** Frontend policies of the imported config. Plugins that apply to all routes add to them. */
  readonly frontend: Record<string, unknown>
}

/** Properties of the route that a plugin applies to. */
export interface RouteFacts {
  readonly isTls: boolean
  readonly identities: readonly Identity[]
}

/** CEL expressions for the client that an authentication plugin identified, for use by later policies. */
export interface Identity {
  /** Returns an expression that is true for clients that are one of the consumers. */
  isOneOf(this: void, consumers: readonly Consumer[]): string
  /** An expression that is true for clients without a credential. */
  readonly isNobody: string
  /** An expression for the name of the client's consumer. */
  readonly name: string
  /** An expression for the `custom_id` of the client's consumer; null when no consumer has a `custom_id`. */
  readonly customId: string | null
  /** An expression for the client in keys of rate limits. */
  readonly key: string
  /** Whether the gateway removes the client's credential before it calls the service. */
  readonly hidesCredential: boolean
  /** The consumer that Kong assigns to requests without a credential; null when such requests are denied. */
  readonly anonymous: Consumer | null
}

/**
 * Returns an expression for clients that are one of the consumers; null when no plugin of the route identifies clients.
 */
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

/** A response that a plugin sends. Without a condition, no request of the route reaches the service. */
export interface Reply {
  readonly condition?: string
  readonly policy: { readonly status: number; readonly body?: string; readonly headers?: readonly object[] }
}

/** The effects of all plugins that a request passed. */
export interface PluginState extends State {
  readonly replies: readonly Reply[]
  /** CEL method calls that change the query of the upstream request. */
  readonly queryCalls: readonly string[]
  /** A path that replaces the paths of the client and of the service; null when no plugin sets a path. */
  readonly newPath: string | null
  /** A language model that gets the requests in place of the service; null when no plugin names a model. */
  readonly model: { readonly ai: object; readonly policies?: object } | null
  /** The members of the model's `ai` policy. */
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
 * Adds the effect of a plugin to a route. `when` is an expression for the clients that the plugin applies to; null for
 * all clients. Returns null when the effect cannot be expressed, so that the requests must be denied.
 */
export type Effect = (state: PluginState, when: string | null, route: RouteFacts) => PluginState | null

export interface ReadPlugin {
  readonly effect: Effect
  /** The identity that the plugin gives to clients; null when the plugin does not identify clients. */
  readonly identity: Identity | null
}

/** Reads a plugin, and sets notes on the fields of its config. The result is used for all routes of the plugin. */
export type PluginReader = (plugin: Plugin, surroundings: Surroundings) => ReadPlugin

export const KEEPS: ReadPlugin = { effect: (state) => state, identity: null }

export function effectOf(effect: Effect): ReadPlugin {
  return { effect, identity: null }
}

/** Denies the requests that a plugin applies to, because the plugin cannot be imported. */
export function closes({ entity }: Plugin, why: string): ReadPlugin {
  entity.field.notCarried(`${why}; requests get 403 until you configure a replacement`, true)
  return effectOf((state, when) => (when === null ? null : withDenial(state, when)))
}

function withDenial(state: PluginState, expression: string): PluginState {
  return { ...state, denials: [...state.denials, expression] }
}

/** Denies requests for which an expression is true, among the clients for which `when` is true. */
export function deniedIf(state: PluginState, when: string | null, expression: string): PluginState {
  return withDenial(state, when === null ? expression : `(${when}) && (${expression})`)
}

/** The environment variables of the imported config, with values for the generated tests. */
export class Variables {
  readonly #values = new Map<string, string>()
  readonly #names = new Map<string, string>()

  add(name: string, value: string): string {
    if (!this.#values.has(name)) this.#values.set(name, value)
    return name
  }

  /** Returns the variable that a text names; null for other texts. */
  ofText(text: string, value: string): string | null {
    const name = variableOfText(text)
    return name === null ? null : this.add(name, value)
  }

  /** Returns a new variable for the value of a field, such as a secret. */
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
