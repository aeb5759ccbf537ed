/** Caches `find` by model name, for recently used names. */
export function byModel<T extends object>(find: (model: string) => T): (model: string) => T {
  const known = new Map<string, T>()
  return (model) => {
    const before = known.get(model)
    if (before !== undefined) return before
    const found = find(model)
    // Clients choose the names, so the cache is bounded.
    if (known.size === MAX_NAMES) known.clear()
    if (model.length <= MAX_LENGTH) known.set(model, found)
    return found
  }
}

const MAX_NAMES = 100
const MAX_LENGTH = 100
