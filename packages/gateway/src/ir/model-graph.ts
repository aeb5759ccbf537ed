import { didYouMean } from '../formats/suggest.ts'
import { ModelNames } from '../formats/model-names.ts'

/** A model of the config, as far as its references to other models go. */
export interface ModelNode {
  readonly name: string
  /** Whether the provider has a price; false for a virtual model. */
  readonly hasPrice: boolean
  readonly isVirtual: boolean
  readonly byPrice: boolean
  /** The names of other models, each with its path below the model. */
  readonly references: readonly { readonly name: string; readonly path: readonly (string | number)[] }[]
}

/** A fault of a reference, at `path` below the model. */
interface ReferenceFault {
  readonly model: ModelNode
  readonly path: readonly (string | number)[]
  readonly found: string
  readonly expected: string
  readonly suggestion: string | null
}

/** Finds references to unknown models, cycles, nesting that is too deep, and prices that are missing. */
export function findReferenceFaults(models: readonly ModelNode[]): ReferenceFault[] {
  const names = new ModelNames(models)
  const faults: ReferenceFault[] = []
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
function inChain([model, second]: readonly ModelNode[]): Pick<ReferenceFault, 'model' | 'path'> {
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
