import { seeded } from '../seeded.ts'

export interface WorkloadSize {
  readonly seed: number
  readonly keys: number
  readonly machines: number
  /** The tokens that each key may spend. */
  readonly budget: number
  /** The cost of all calls of a key, divided by the key's budget. */
  readonly demand: number
}

/** A simulated call with its cost; times are in milliseconds, amounts in tokens. */
export interface SimulatedCall {
  readonly key: string
  readonly start: number
  readonly duration: number
  /** The number of the machine that the load balancer chooses. */
  readonly machine: number
  readonly prompt: number
  readonly output: number
  /** A random number in [0, 1), with which the simulation selects rare calls. */
  readonly chance: number
}

/** Creates the calls of all keys, ordered by time. Each key sends its calls in one busy minute. */
export function createWorkload({ seed, keys, machines, budget, demand }: WorkloadSize): SimulatedCall[] {
  const random = seeded(seed)
  const between = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1))
  const calls: SimulatedCall[] = []
  for (let key = 0; key < keys; key++) {
    const begin = between(0, END_MS - BUSY_MS)
    for (let wanted = 0; wanted < budget * demand;) {
      const call = {
        key: `key-${key}`,
        start: begin + between(0, BUSY_MS),
        duration: between(1_000, LONGEST_CALL_MS),
        machine: between(0, machines - 1),
        prompt: between(100, 500),
        output: between(200, MOST_OUTPUT),
        chance: random(),
      }
      wanted += call.prompt + call.output
      calls.push(call)
    }
  }
  return calls.sort((a, b) => a.start - b.start)
}

/** The time in which all calls begin, in milliseconds. */
export const END_MS = 300_000
/** The longest call, in milliseconds; shorter than a lease, so that no call has to renew its reservation. */
export const LONGEST_CALL_MS = 10_000
/** The most output tokens of a call. */
export const MOST_OUTPUT = 1_200
const BUSY_MS = 60_000
