import { seeded } from '../seeded.ts'

export interface WorkloadSize {
  readonly seed: number
  readonly keys: number
  readonly machines: number
  /** Tokens that each key may spend. */
  readonly budget: number
  /** The cost of all calls of a key, as a multiple of its budget. */
  readonly demand: number
}

/** A call as the client sends it, and what it costs; times in milliseconds, amounts in tokens. */
export interface SimulatedCall {
  readonly key: string
  readonly start: number
  readonly duration: number
  /** The machine that the load balancer chooses. */
  readonly machine: number
  readonly prompt: number
  readonly output: number
  /** Selects rare calls, in [0, 1). */
  readonly chance: number
}

/** The calls of all keys by time. Each key sends its calls in one busy minute. */
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

/** The time in which calls begin. */
export const END_MS = 300_000
/** Shorter than a lease, so that no call has to renew its reservation. */
export const LONGEST_CALL_MS = 10_000
/** The largest output of a call. */
export const MOST_OUTPUT = 1_200
const BUSY_MS = 60_000
