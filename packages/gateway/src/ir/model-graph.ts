import { isObject } from '@portico/http/json'
import type { ModelConfig } from '../backends/ai/models/schema.ts'
import { didYouMean } from '../formats/suggest.ts'
import { ModelNames } from '../formats/model-names.ts'

/** A model of the config, as far as it must agree with other models and with itself. */
export interface ModelNode {
  readonly name: string
  /** The models that providers are called with, by vendor. */
  readonly sent: readonly { readonly vendor: string; readonly model: string }[]
  /** The weights of the targets of a model with `by: Weight`; empty for other models. */
  readonly weights: readonly unknown[]
  /** Whether the provider has a price; false for a virtual model. */
  readonly hasPrice: boolean
  readonly isVirtual: boolean
  readonly byPrice: boolean
  /** The names of other models, each with its path below the model. */
  readonly references: readonly { readonly name: string; readonly path: readonly (string | number)[] }[]
}

/** A fault at `path` below the model. */
interface ModelFault {
  readonly model: ModelNode
  readonly path: readonly (string | number)[]
  readonly found: string
  readonly expected: string
  readonly suggestion: string | null
}

/** Finds what is wrong between the models of a backend, and between the fields of one model. */
export function findModelFaults(models: readonly ModelNode[]): ModelFault[] {
  return [...findReferenceFaults(models), ...models.flatMap((model) => [...starFaults(model), ...weightFaults(model)])]
}

/** A `*` in the model of the provider needs a `*` in the name. */
function starFaults(model: ModelNode): ModelFault[] {
  if (model.name.includes('*')) return []
  return model.sent
    .filter((sent) => sent.model.includes('*'))
    .map((sent) => ({
      model,
      path: ['provider', sent.vendor, 'model'],
      found: `found \`${sent.model}\` for a name without \`*\``,
      expected: 'a model without `*`',
      suggestion: null,
    }))
}

function weightFaults(model: ModelNode): ModelFault[] {
  if (model.weights.length === 0 || model.weights.some((weight) => weight !== 0)) return []
  const found = 'found only targets of weight 0'
  return [{ model, path: ['targets'], found, expected: 'a weight above 0', suggestion: null }]
}

/** Finds references to unknown models, cycles, nesting that is too deep, and prices that are missing. */
function findReferenceFaults(models: readonly ModelNode[]): ModelFault[] {
  const names = new ModelNames(models)
  const faults: ModelFault[] = []
  const visit = (model: ModelNode, chain: readonly ModelNode[]): number => {
    let count = model.isVirtual ? 0 : 1
    for (const { name, path } of model.references) {
      const report = (found: string, expected: string, suggestion: string | null = null): void => {
        // Each model is visited on its own too, and its faults are reported there.
        if (chain.length === 1) faults.push({ model, path, found, expected, suggestion })
      }
      const target = names.find(name)?.model
      const round = target === undefined ? -1 : chain.indexOf(target)
      if (target === undefined) {
        const known = models.map((each) => each.name).filter((each) => !each.includes('*'))
        report(`found no model named \`${name}\``, 'a name that `models` has', didYouMean(name, known))
      } else if (round === 0) {
        faults.push({ ...inChain(chain), found: `found a cycle: ${printChain([...chain, target])}`, ...NO_CYCLES })
      } else if (round === -1 && chain.length === MAX_DEPTH) {
        faults.push({ ...inChain(chain), found: `found ${printChain([...chain, target])}`, ...NOT_DEEPER })
      } else if (round === -1) {
        count += visit(target, [...chain, target])
        if (model.byPrice && !target.isVirtual && !target.hasPrice) {
          report(
            `found the target \`${name}\`, which has no price`,
            '`price` in every target of a model with `by: Price`',
          )
        }
      }
    }
    return count
  }
  for (const model of models) {
    const before = faults.length
    const count = visit(model, [model])
    if (count > MAX_PROVIDERS && faults.length === before) {
      const found = `found ${count} providers behind the model \`${model.name}\``
      faults.push({ model, path: ['targets'], found, expected: `at most ${MAX_PROVIDERS}`, suggestion: null })
    }
  }
  return faults
}

/** The first model of a chain, and the path of its reference to the second. */
function inChain([model, second]: readonly ModelNode[]): Pick<ModelFault, 'model' | 'path'> {
  if (model === undefined) throw new Error('a chain has no model')
  const names = new ModelNames(second === undefined ? [model] : [second])
  const reference = model.references.find(({ name }) => names.find(name) !== null)
  return { model, path: reference?.path ?? [] }
}

function printChain(chain: readonly ModelNode[]): string {
  return chain.map(({ name }) => name).join(' → ')
}

const MAX_DEPTH = 4
const MAX_PROVIDERS = 64
const NO_CYCLES = { expected: 'models that do not lead back to themselves', suggestion: null }
const NOT_DEEPER = { expected: `at most ${MAX_DEPTH} models in a chain`, suggestion: null }

/** The node of a valid model. */
export function modelNode({ name, provider = {}, targets = [], price, by, fallback = {} }: ModelConfig): ModelNode {
  const others = Object.entries(fallback).filter(([, to]) => !isRuleWord(to))
  return {
    name,
    sent: Object.entries(provider).flatMap(([vendor, config]) =>
      isObject(config) && 'model' in config && typeof config.model === 'string'
        ? [{ vendor, model: config.model }]
        : [],
    ),
    weights: by === 'Weight' ? targets.map(({ weight }) => weight) : [],
    hasPrice: price !== undefined,
    isVirtual: targets.length > 0,
    byPrice: by === 'Price',
    references: [
      ...targets.map(({ model }, index) => ({ name: model, path: ['targets', index, 'model'] })),
      ...others.map(([kind, to]) => ({ name: to, path: ['fallback', kind] })),
    ],
  }
}

/** Whether a rule of `fallback` is a word instead of the name of a model. */
export function isRuleWord(rule: string): boolean {
  return /^(?:next|fail)$/i.test(rule)
}
