import { setsOfListeners } from '../ir/merge.ts'
import { isShadow } from '../ir/shadow-policies.ts'
import { PoliciesByTarget } from '../ir/policies-by-target.ts'
import type { AttachedPolicy, Ir, Listener, Route } from '../ir/resources.ts'
import type { Path } from '../schema/problem.ts'
import type { SourceLocation } from '../findings/explanation.ts'
import type { ConfigLookup, Findings, PolicySection, RecordKeys, AttachedConfig, Subject } from '../findings/subject.ts'

/** A current or earlier config, as explanations read it. */
export interface ConfigParts {
  /** Whether this is the config that decided; if that config is no longer stored, this view is empty. */
  readonly isKnown: boolean
  readonly ir: Ir
  /** The location of a part of the IR, or of the value at `path` below the part. */
  locate(part: object, path: Path): SourceLocation | null
}

/** Finds the parts of a config that applied to a request. */
export class ConfigView implements ConfigLookup {
  readonly #parts: ConfigParts
  readonly #byTarget: PoliciesByTarget
  readonly #sets: ReadonlyMap<string, string>

  constructor(parts: ConfigParts) {
    this.#parts = parts
    this.#byTarget = PoliciesByTarget.of(parts.ir.policies)
    this.#sets = setsOfListeners(parts.ir.listeners)
  }

  get isKnown(): boolean {
    return this.#parts.isKnown
  }

  get ir(): Ir {
    return this.#parts.ir
  }

  locate(part: object | null | undefined, path: Path = []): SourceLocation | null {
    return part === null || part === undefined ? null : this.#parts.locate(part, path)
  }

  listener(key: string | null): Listener | null {
    return this.ir.listeners.find((listener) => listener.key === key) ?? null
  }

  route(key: string | null): Route | null {
    return this.ir.routes.find((route) => route.key === key) ?? null
  }

  /** Returns all attachments of an enforced policy that applied to the request, from the farthest to the nearest. */
  said(section: PolicySection, policy: string, keys: RecordKeys, phase: string | null): AttachedConfig[] {
    const attached = section === 'frontend' ? this.#atPort(keys) : this.#near(section, keys)
    const wanted = phase === 'gateway' ? 'PreRouting' : 'PostRouting'
    return attached
      .filter((each) => section !== 'traffic' || each.phase === wanted)
      .flatMap((attachment) => {
        const own = Object.entries(attachment[section] ?? {}) as [string, unknown][]
        const config = own.find(([name]) => name === policy)?.[1]
        return typeof config === 'object' && config !== null && !isShadow(config) ? [{ attachment, config }] : []
      })
  }

  /** The nearest attachment, which took effect. */
  held(section: PolicySection, policy: string, keys: RecordKeys, phase: string | null): AttachedConfig | null {
    return this.said(section, policy, keys, phase).at(-1) ?? null
  }

  #atPort({ listener }: RecordKeys): AttachedPolicy[] {
    const { bind } = this.listener(listener) ?? {}
    return [...this.#byTarget.at('gateway', ''), ...(bind === undefined ? [] : this.#byTarget.at('bind', bind))]
  }

  #near(section: PolicySection, { listener, route, backend }: RecordKeys): AttachedPolicy[] {
    const found = this.route(route)
    const entry = found?.backends.find((each) => each.backend === backend || each.key === backend) ?? null
    const set = listener === null ? undefined : this.#sets.get(listener)
    return [
      ...this.#byTarget.at('gateway', ''),
      ...(set === undefined ? [] : this.#byTarget.at('listenerSet', set)),
      ...(listener === null ? [] : this.#byTarget.at('listener', listener)),
      ...(found === null ? [] : this.#byTarget.at('route', `${found.listener}/${found.name}`)),
      ...(found === null ? [] : this.#byTarget.at('rule', found.key)),
      ...(section === 'backend' && entry !== null ? this.#ofBackend(entry) : []),
    ]
  }

  #ofBackend({ backend, key }: Route['backends'][number]): AttachedPolicy[] {
    const own = this.#byTarget.at('backend', backend)
    return key === backend ? [...own] : [...own, ...this.#byTarget.at('backend', key)]
  }
}

/**
 * The origin of an attachment in words: `inline in route bind/80/web/orders`, `policy cors on route
 * bind/80/web/orders`.
 */
export function originOf({ key }: { readonly key: string }): string {
  const [, name, target = ''] = /^policy\/([^@]*)@(.*)$/.exec(key) ?? []
  const place = (text: string): string => text.replace(/^(\w+)[/ ]/, '$1 ').trim()
  return name === undefined ? `inline in ${place(key.replace(/^inline\//, ''))}` : `policy ${name} on ${place(target)}`
}

/** The subject of explanations that also read routes and listeners. */
export interface ConfigSubject extends Subject {
  readonly view: ConfigView
}

export type ConfigExplainer = (subject: ConfigSubject) => Findings
