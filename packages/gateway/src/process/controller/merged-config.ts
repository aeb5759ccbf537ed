import type { Bind, Ir } from '../../ir/resources.ts'
import { ConfigFault } from '../../pipeline/compiled/config-fault.ts'
import type { UnitFault } from '../../pipeline/compiled/containment.ts'
import { type QuarantinedResource, quarantinedBy } from '../../ir/quarantine.ts'
import { withoutBinds } from '../../ir/without-binds.ts'
import type { Gateway } from '../config/gateway.ts'

/** Describes a fault with its location in the source; null when the fault is not in that source. */
type Explain = (fault: ConfigFault) => string | null

interface Part {
  ir: Ir
  explain: Explain
  /** Whether a newer config of this source was rejected. */
  isStale: boolean
}

interface PartNames {
  file: string
  controller: string
}

/**
 * Merges the configs of the file and of the controller: each changes separately and goes live together with the last good
 * config of the other. A fault in the file rejects the file. A fault in a resource of the controller closes only the unit
 * of that resource.
 */
export class MergedConfig {
  readonly #gateway: Gateway
  readonly #names: PartNames
  readonly #parts: Record<keyof PartNames, Part>
  #turn: Promise<unknown> = Promise.resolve()
  #shut: readonly UnitFault[] = []

  /** The config of `file` is live already. */
  constructor(gateway: Gateway, names: PartNames, file: Ir) {
    this.#gateway = gateway
    this.#names = names
    this.#parts = {
      file: { ir: file, explain: () => null, isStale: false },
      controller: { ir: NOTHING, explain: () => null, isStale: false },
    }
  }

  /** Applies a new config of one source; returns the problems that keep it from going live. */
  apply(name: keyof PartNames, ir: Ir, explain: Explain): Promise<string[]> {
    return this.#inTurn(() => this.#apply(name, ir, explain))
  }

  /** Resources of the controller that are closed. */
  get quarantined(): QuarantinedResource[] {
    const { ir } = this.#parts.controller
    return quarantinedBy(ir, [...this.#gateway.closed, ...this.#shut])
  }

  /** Records the problems of a source that could not be read. */
  refused(name: keyof PartNames, problems: string[]): string[] {
    void this.#inTurn(async () => {
      this.#parts[name].isStale = true
      this.#gateway.refused(problems)
    })
    return problems
  }

  async #apply(name: keyof PartNames, ir: Ir, explain: Explain): Promise<string[]> {
    const wanted = { ...this.#parts, [name]: { ir, explain, isStale: false } }
    const { file, controller } = wanted
    const shared = sharedPorts(file.ir, controller.ir, this.#names)
    // The file keeps its ports, and cannot take ports that the controller uses.
    const wasShut = new Set(this.#shut.map(({ unit }) => unit.key))
    const shut = name === 'controller' ? shared : shared.filter(({ unit }) => wasShut.has(unit.key))
    const taken = shared.filter((found) => !shut.includes(found)).map(({ fault }) => fault.message)
    const controlled = withoutBinds(controller.ir, new Set(shut.map(({ unit }) => unit.key)))
    const clashes = [...taken, ...clashesOf(file.ir, controlled, this.#names)]
    const explainAny = (fault: ConfigFault): string => controller.explain(fault) ?? explain(fault) ?? fault.message
    // Resources of a shared Gateway may have different owners, so a fault in one must not reject the others.
    const isControlled = unitsOf(controlled)
    const holds = ({ unit, fault }: UnitFault): boolean => {
      if (isControlled(unit.key) && (name === 'controller' || fault.part === null)) return true
      return controller.explain(fault) !== null
    }
    const problems =
      clashes.length > 0
        ? this.#gateway.refused(clashes)
        : await this.#gateway.apply(joined(file.ir, controlled), explainAny, { holds })
    if (problems.length > 0) this.#parts[name].isStale = true
    else {
      this.#parts[name] = wanted[name]
      this.#shut = shut
    }
    if (this.#parts.file.isStale || this.#parts.controller.isStale) this.#gateway.notNewest()
    return problems
  }

  #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(run)
    this.#turn = result.catch(() => {})
    return result
  }
}

const NOTHING: Ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }

/** Merges both configs. Later policies win, so those of the controller come last. */
function joined(file: Ir, controller: Ir): Ir {
  return {
    binds: both(file.binds, controller.binds),
    listeners: both(file.listeners, controller.listeners),
    routes: both(file.routes, controller.routes),
    backends: both(file.backends, controller.backends),
    policies: both(file.policies, controller.policies),
  }
}

/** Concatenates lists; returns the same array when the other is empty, so that unchanged lists are recognized by identity. */
function both<Item>(one: Item[], other: Item[]): Item[] {
  if (one.length === 0) return other
  return other.length === 0 ? one : [...one, ...other]
}

function clashesOf(file: Ir, controller: Ir, names: PartNames): string[] {
  const of = (what: string): string =>
    `${what} is in ${names.file} and in ${names.controller}: only one of them can have it`
  return (Object.keys(file) as (keyof Ir)[]).flatMap((list) => {
    if (file[list].length === 0) return []
    const keys = new Set(file[list].map(({ key }) => key))
    return controller[list].filter(({ key }) => keys.has(key)).map(({ key }) => of(`\`${key}\` of ${list}`))
  })
}

/** The binds of the controller on ports that the file uses, as faults. */
function sharedPorts(file: Ir, controller: Ir, names: PartNames): UnitFault[] {
  return controller.binds
    .filter((bind) => file.binds.some((other) => shareAPort(bind, other)))
    .map((bind) => {
      const found = `port ${bind.port} is in ${names.file} and in ${names.controller}: only one of them can have it`
      return { unit: { kind: 'bind', key: bind.key }, fault: new ConfigFault(bind, [], { found, expected: '' }) }
    })
}

function unitsOf({ binds, listeners, routes, backends }: Ir): (key: string) => boolean {
  const keys = new Set([...binds, ...listeners, ...routes, ...backends].map(({ key }) => key))
  return (key) => keys.has(key)
}

function shareAPort(one: Bind, other: Bind): boolean {
  const isEvery = (address: string): boolean => ['', '0.0.0.0', '::'].includes(address)
  if (one.port === 0 || one.port !== other.port || one.transport !== other.transport) return false
  return one.address === other.address || isEvery(one.address) || isEvery(other.address)
}
