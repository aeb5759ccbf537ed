import type { Bind, Ir } from '../../ir/resources.ts'
import { ConfigFault } from '../../pipeline/compiled/config-fault.ts'
import type { UnitFault } from '../../pipeline/compiled/containment.ts'
import { type Quarantined, quarantinedBy } from '../../ir/quarantine.ts'
import { withoutBinds } from '../../ir/without-binds.ts'
import type { Gateway } from '../config/gateway.ts'

/** Tells where in its source a fault is; null when it is not of that source. */
type Explain = (fault: ConfigFault) => string | null

interface Part {
  ir: Ir
  explain: Explain
  /** A newer one of this source was refused. */
  isStale: boolean
}

export interface PartNames {
  file: string
  controller: string
}

/**
 * Configs of two sources as one: each changes by itself, one at a time, and goes live with the last good one of the other.
 * A fault in the file refuses the file. A fault in a resource of the controller closes what that resource is part of.
 */
export class MergedConfig {
  readonly #gateway: Gateway
  readonly #names: PartNames
  readonly #parts: Record<keyof PartNames, Part>
  #turn: Promise<unknown> = Promise.resolve()
  #shut: readonly UnitFault[] = []

  /** `file` is live already. */
  constructor(gateway: Gateway, names: PartNames, file: Ir) {
    this.#gateway = gateway
    this.#names = names
    this.#parts = {
      file: { ir: file, explain: () => null, isStale: false },
      controller: { ir: NOTHING, explain: () => null, isStale: false },
    }
  }

  /** The problems that keep it from going live; none when it has. */
  apply(name: keyof PartNames, ir: Ir, explain: Explain): Promise<string[]> {
    return this.#inTurn(() => this.#apply(name, ir, explain))
  }

  /** Resources of the controller that are closed. */
  get quarantined(): Quarantined[] {
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
    // The file keeps its ports, and takes none that the controller has.
    const wasShut = new Set(this.#shut.map(({ unit }) => unit.key))
    const shut = name === 'controller' ? shared : shared.filter(({ unit }) => wasShut.has(unit.key))
    const taken = shared.filter((found) => !shut.includes(found)).map(({ fault }) => fault.message)
    const controlled = withoutBinds(controller.ir, new Set(shut.map(({ unit }) => unit.key)))
    const clashes = [...taken, ...clashesOf(file.ir, controlled, this.#names)]
    const explainAny = (fault: ConfigFault): string => controller.explain(fault) ?? explain(fault) ?? fault.message
    // Gateways are shared: who owns a resource of the controller may not be who owns the next.
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

/** Later policies win: those of the controller, which are about its own resources. */
function joined(file: Ir, controller: Ir): Ir {
  return {
    binds: both(file.binds, controller.binds),
    listeners: both(file.listeners, controller.listeners),
    routes: both(file.routes, controller.routes),
    backends: both(file.backends, controller.backends),
    policies: both(file.policies, controller.policies),
  }
}

/** The same list where the other one is empty: what has not changed is seen at once. */
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

/** Ports of both: the file keeps its own. */
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
  if (one.port === 0 || one.port !== other.port) return false
  return one.address === other.address || isEvery(one.address) || isEvery(other.address)
}
