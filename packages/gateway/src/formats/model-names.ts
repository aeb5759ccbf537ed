/** A model of the config that has a name of a request, and the name with which its provider is called. */
export interface NamedModel<Model> {
  model: Model
  /** The name in the request; empty when the request has none. */
  name: string
  /** The name without the namespace of the pattern: `claude-5` for `anthropic/claude-5` and the pattern `anthropic/*`. */
  ownName: string
  /** The text that the `*` of the pattern matched; the whole name when the model is not a pattern. */
  star: string
}

interface Pattern<Model> {
  prefix: string
  suffix: string
  model: Model
}

/** The models of one backend by name: exact names first, then patterns, the longest first. */
export class ModelNames<Model extends { readonly name: string }> {
  readonly #exact: ReadonlyMap<string, Model>
  readonly #patterns: readonly Pattern<Model>[]

  constructor(models: readonly Model[]) {
    this.#exact = new Map(models.filter(({ name }) => !isPattern(name)).map((model) => [model.name, model]))
    this.#patterns = models
      .filter(({ name }) => isPattern(name))
      .toSorted((one, other) => other.name.length - one.name.length)
      .map((model) => {
        const [prefix = '', suffix = ''] = model.name.split('*')
        return { prefix, suffix, model }
      })
  }

  /** The models with exact names, in the order of the config. */
  get exact(): Iterable<Model> {
    return this.#exact.values()
  }

  find(name: string): NamedModel<Model> | null {
    const model = this.#exact.get(name)
    if (model !== undefined) return { model, name, ownName: name, star: name }
    for (const { prefix, suffix, model: found } of this.#patterns) {
      if (name.length < prefix.length + suffix.length || !name.startsWith(prefix) || !name.endsWith(suffix)) continue
      const star = name.slice(prefix.length, name.length - suffix.length)
      // A namespace alone names no model.
      if (star === '') continue
      return { model: found, name, ownName: prefix.endsWith('/') ? star : name, star }
    }
    return null
  }
}

function isPattern(name: string): boolean {
  return name.includes('*')
}
