import { commented } from '../../core/config-yaml.ts'
import { positionText } from '../../core/source.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { ClosedStatus, Scope, TestedBackend } from '../values/convert.ts'
import { whyInvalidConfig } from '../values/validity.ts'
import { objectName, type ReadBackend, UNKNOWN } from './ai.ts'

type Entry = { readonly name: string; readonly tested: TestedBackend; readonly isStatic: boolean } | ClosedStatus

/**
 * The named backends of the Portico config: the backends of the agentgateway config that a route or policy uses, and
 * backends for services that policies call.
 */
export class NamedBackends {
  readonly scope: Scope
  readonly #sources = new Map<string, Field>()
  readonly #read: (field: Field, scope: Scope) => ReadBackend
  readonly #entries = new Map<string, Entry>()
  readonly #names = new Map<string, string>()
  readonly #printed: object[] = []

  constructor(
    list: Field | null,
    surroundings: Pick<Scope, 'env' | 'checks'>,
    read: (field: Field, scope: Scope) => ReadBackend,
  ) {
    this.#read = read
    for (const field of list?.items ?? []) this.#sources.set(keyOf(field.get('name')?.text ?? ''), field)
    this.scope = {
      ...surroundings,
      backends: {
        named: (reference) => this.#named(reference),
        testedOf: (reference) => this.#testedOf(reference),
        isStatic: (reference) => this.#isStatic(reference),
        add: (name, backend) => this.#add(name, backend),
      },
    }
  }

  get printed(): readonly object[] {
    return this.#printed
  }

  /** Notes in the import report which backends of the agentgateway config nothing uses. */
  noteUnused(): void {
    for (const [key, field] of this.#sources)
      if (!this.#entries.has(key)) field.carried('no imported route or policy uses the backend, so it is left out')
  }

  /** The upstream that generated tests expect for a backend; unknown if the backend has not been read. */
  #testedOf(reference: string): TestedBackend {
    const entry = this.#entries.get(keyOf(reference))
    return typeof entry === 'object' ? entry.tested : UNKNOWN
  }

  #isStatic(reference: string): boolean {
    const entry = this.#entries.get(keyOf(reference))
    return typeof entry === 'object' && entry.isStatic
  }

  #named(reference: string): string | ClosedStatus {
    const key = keyOf(reference)
    const known = this.#entries.get(key)
    if (known !== undefined) return typeof known === 'object' ? known.name : known
    const field = this.#sources.get(key)
    // Ends the recursion when the policies of a backend call the backend itself.
    this.#entries.set(key, 501)
    if (field === undefined) return 501
    const entry = this.#entryOf(field)
    this.#entries.set(key, entry)
    return typeof entry === 'object' ? entry.name : entry
  }

  #entryOf(field: Field): Entry {
    const { backend, policies, status, tested } = this.#read(field, this.scope)
    field.get('name')?.carried()
    if (status !== null) return status
    const name = this.#uniqueName(field.get('name')?.text ?? '')
    const printed = { name, ...backend, ...(Object.keys(policies).length > 0 && { policies }) }
    const why = whyInvalidConfig({ backends: [printed] }, this.scope, 2)
    if (why !== null) {
      field.notCarried(`${why}; requests get 501`, true)
      return 501
    }
    this.#printed.push(commented(printed, positionText(field.at)))
    return { name, tested, isStatic: 'static' in backend }
  }

  #add(wanted: string, backend: object): string | null {
    const key = JSON.stringify(backend)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const name = this.#uniqueName(wanted)
    if (whyInvalidConfig({ backends: [{ name, ...backend }] }, this.scope, 2) !== null) return null
    this.#names.set(key, name)
    this.#printed.push({ name, ...backend })
    return name
  }

  #uniqueName(wanted: string): string {
    const base = objectName(wanted)
    const taken = new Set(this.#printed.map((each) => (each as { name: string }).name))
    for (const name of this.#names.values()) taken.add(name)
    let name = base
    for (let number = 2; taken.has(name); number++) name = `${base}-${number}`
    return name
  }
}

/** Returns the name of a backend for a reference, which is written `/name` or `name`. */
function keyOf(reference: string): string {
  return reference.replace(/^\//, '')
}
