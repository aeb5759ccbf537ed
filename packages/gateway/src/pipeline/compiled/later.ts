export interface Loadable {
  /** Must be awaited before the first call. */
  load(): Promise<void>
}

/** A function whose code most configs do not need: it is loaded before the first config that does. */
export function later<Args extends unknown[], Made>(
  importMake: () => Promise<(...args: Args) => Made>,
): ((...args: Args) => Made) & Loadable {
  let make: ((...args: Args) => Made) | null = null
  const call = (...args: Args): Made => {
    if (make === null) throw new Error('loadFeatures was not awaited')
    return make(...args)
  }
  return Object.assign(call, {
    async load() {
      make ??= await importMake()
    },
  })
}

/** Those of them that are loaded later, by name. */
export function loadablesIn(parts: Readonly<Record<string, object>>): (readonly [string, Loadable])[] {
  return Object.entries(parts).flatMap(([name, part]) => ('load' in part ? [[name, part as Loadable] as const] : []))
}
