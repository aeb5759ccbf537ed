import type { SourceLocation } from '../findings/explanation.ts'
import type { RuleConfig } from '../pipeline/policy/authorization.ts'
import type { Outcome } from '../simulate/outcome.ts'
import type { TestedConfig } from './tested-config.ts'

/** A part of a config that a test can reach. */
interface CoveredPart {
  readonly kind: 'route' | 'match' | 'rule' | 'form' | 'guard'
  readonly name: string
  /** The location in the config, which takes a search. */
  locate(this: void): SourceLocation | null
  isReached: boolean
}

/** The parts of a config that requests of tests reached: routes and their matches, rules, conditional forms, guards. */
export class Coverage {
  readonly parts: CoveredPart[] = []
  readonly #partsByKey = new Map<string, CoveredPart[]>()

  constructor({ ir, locate }: TestedConfig) {
    for (const route of ir.routes) {
      if (route.delegates === true) continue
      const name = route.rule === '' ? route.name : `${route.name}/${route.rule}`
      this.#part(`route ${route.key}`, 'route', name, () => locate(route, []))
      if (route.matches.length < 2) continue
      for (const index of route.matches.keys()) {
        const label = `${name}, match ${index + 1}`
        this.#part(`match ${route.key} ${index}`, 'match', label, () => locate(route, ['matches', index]))
      }
    }
    for (const { traffic, backend } of ir.policies) {
      for (const [name, config] of Object.entries(traffic ?? {}) as [string, object | undefined][]) {
        if (config === undefined) continue
        this.#addForms(name, config, locate)
        if (name === 'authorization') this.#addRules(config, locate)
      }
      const guards = backend?.ai?.promptGuard
      for (const phase of ['request', 'response'] as const) {
        for (const [index, guard] of (guards?.[phase] ?? []).entries()) {
          const kind = Object.keys(guard).find((key) => key !== 'response') ?? ''
          const label = `${phase} guard ${index + 1} (${kind})`
          const ai = backend?.ai
          const at = (): SourceLocation | null => (ai === undefined ? null : locate(ai, ['promptGuard', phase, index]))
          this.#part(`guard ${phase} ${index}`, 'guard', label, at)
        }
      }
    }
  }

  get reached(): number {
    return this.parts.filter(({ isReached }) => isReached).length
  }

  /** Whole percent; 100 for a config without parts. */
  get percent(): number {
    return this.parts.length === 0 ? 100 : Math.floor((100 * this.reached) / this.parts.length)
  }

  get missed(): readonly Readonly<CoveredPart>[] {
    return this.parts.filter(({ isReached }) => !isReached)
  }

  add({ matched, events }: Outcome): void {
    if (matched !== null) {
      this.#reach(`route ${matched.route}`)
      this.#reach(`match ${matched.route} ${matched.index}`)
    }
    for (const { message } of events) {
      const { type, kind, result, rules, phase, index, verdict } = message as Record<string, unknown>
      if (type === 'authorizationResult') {
        for (const { mode, name, matched: isMatched } of rules as { mode: string; name: string; matched: boolean }[]) {
          if (isMatched || mode === 'require') this.#reach(`rule ${mode} ${name}`)
        }
      } else if (type === 'policy') {
        const { details } = result as { details?: { chosen?: number; condition?: string | null } }
        if (details?.chosen !== undefined) {
          this.#reach(`form ${String(kind)} ${details.chosen} ${details.condition ?? ''}`)
        }
      } else if (type === 'promptGuard' && verdict !== 'notRun') this.#reach(`guard ${String(phase)} ${Number(index)}`)
    }
  }

  #addRules(config: object, locate: TestedConfig['locate']): void {
    const { rules = [] } = config as { rules?: readonly RuleConfig[] }
    for (const [index, { mode, expression }] of rules.entries()) {
      this.#part(`rule ${mode} ${expression}`, 'rule', `${mode} ${expression}`, () => locate(config, ['rules', index]))
    }
  }

  #addForms(name: string, config: object, locate: TestedConfig['locate']): void {
    const { conditional = [] } = config as { conditional?: readonly { condition?: string }[] }
    for (const [index, { condition = '' }] of conditional.entries()) {
      const label = `${name}, form ${index + 1}${condition === '' ? '' : ` (${condition})`}`
      this.#part(`form ${name} ${index} ${condition}`, 'form', label, () => locate(config, ['conditional', index]))
    }
  }

  #part(key: string, kind: CoveredPart['kind'], name: string, locate: CoveredPart['locate']): void {
    const part = { kind, name, locate, isReached: false }
    this.parts.push(part)
    this.#partsByKey.set(key, [...(this.#partsByKey.get(key) ?? []), part])
  }

  #reach(key: string): void {
    for (const part of this.#partsByKey.get(key) ?? []) part.isReached = true
  }
}
