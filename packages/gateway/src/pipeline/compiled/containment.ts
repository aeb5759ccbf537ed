import { type ConfigFault, CyclicBackend, faultsIn } from './config-fault.ts'

/** A part of a config that can be closed by itself, so that its faults leave every other part as it is. */
export interface ConfigUnit {
  kind: 'gateway' | 'bind' | 'listener' | 'route' | 'backend'
  /** Key of the resource; empty for the whole gateway. */
  key: string
}

/** A fault, and the unit that cannot run because of it. */
export interface UnitFault {
  unit: ConfigUnit
  fault: ConfigFault
}

/** The policy for units that cannot be compiled: throw, or close them. */
export interface Containment {
  /** Makes a unit; `closed` makes its replacement, which refuses all requests. */
  make<Made>(unit: ConfigUnit, make: () => Made, closed: (reason: string) => Made): Made
}

/** Throws on the first unit that cannot be compiled. */
export const STRICT: Containment = { make: (_unit, make) => make() }

/** Closes units that cannot be compiled: the main thread has decided that the config goes live, and reported them. */
export const CLOSING: Containment = {
  make(_unit, make, closed) {
    try {
      return make()
    } catch (error) {
      if (error instanceof CyclicBackend) throw error
      return closed(reasonOf(faultsIn(error)))
    }
  },
}

/** Closes units as `CLOSING` does, and records every fault. */
export class FaultRecorder implements Containment {
  readonly found: UnitFault[] = []

  make<Made>(unit: ConfigUnit, make: () => Made, closed: (reason: string) => Made): Made {
    try {
      return make()
    } catch (error) {
      if (error instanceof CyclicBackend) throw error
      const faults = faultsIn(error)
      for (const fault of faults) this.found.push({ unit, fault })
      return closed(reasonOf(faults))
    }
  }
}

/** The unit of parts that belong to the whole gateway. */
export const GATEWAY: ConfigUnit = { kind: 'gateway', key: '' }

/** Makes a part that only reports on requests, such as an exporter; requests pass if the part cannot be compiled. */
export function makeOptional<Config, Made>(
  containment: Containment,
  config: Config | undefined,
  make: (config: Config) => Made,
): Made | null {
  if (config === undefined) return null
  return containment.make<Made | null>(
    GATEWAY,
    () => make(config),
    () => null,
  )
}

function reasonOf(faults: readonly ConfigFault[]): string {
  return `quarantined: ${faults.map(({ message }) => message).join('; ')}`
}
