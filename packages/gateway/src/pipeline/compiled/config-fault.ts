/** What makes a config impossible to run, found while it is put together. Phrases are those of any problem. */
export class ConfigFault extends Error {
  /** The part of the config that it is about, as it stands there: by it the place in the file is found. */
  readonly part: object | null
  /** From that part to what is at fault. */
  readonly path: readonly (string | number)[]
  readonly found: string
  readonly expected: string

  constructor(
    part: object | null,
    path: readonly (string | number)[],
    { found, expected }: { found: string; expected: string },
  ) {
    super(expected === '' ? found : `${found}, expected ${expected}`)
    this.part = part
    this.path = path
    this.found = found
    this.expected = expected
  }
}

/** A backend that can be reached only through itself. */
export class CyclicBackend extends Error {}

/** Several of them. */
class ConfigFaults extends Error {
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(({ message }) => message).join('\n'))
    this.faults = faults
  }
}

/** Makes something of every item, and only then throws what any of them threw: one mistake must not hide another. */
export function makeEach<Item, Made>(items: Iterable<Item>, make: (item: Item) => Made): Made[] {
  const made: Made[] = []
  const faults: ConfigFault[] = []
  for (const item of items) {
    try {
      made.push(make(item))
    } catch (error) {
      faults.push(...faultsIn(error))
    }
  }
  if (faults.length > 0) throw new ConfigFaults(faults)
  return made
}

/** What was thrown while a config was put together. */
export function faultsIn(error: unknown): readonly ConfigFault[] {
  if (error instanceof ConfigFault) return [error]
  if (error instanceof ConfigFaults) return error.faults
  const found = `found what cannot be put together (${error instanceof Error ? error.message : String(error)})`
  return [new ConfigFault(null, [], { found, expected: 'a config that can run' })]
}
