import type { Ir } from '../ir/resources.ts'
import type { Outcome } from '../simulate/outcome.ts'
import { Simulation } from '../simulate/simulation.ts'
import type { World } from '../simulate/world.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { recordedReply } from './recorded-reply.ts'
import type { Replay } from './replayed-request.ts'

interface ReplayedConfig {
  readonly ir: Ir
  /** The addresses of Kubernetes Services, by the key of their backends. */
  readonly endpoints?: Readonly<Record<string, readonly string[]>> | undefined
}

/** A simulated gateway that receives recorded requests in order. Its backends give the recorded responses. */
export class Replayer {
  readonly #simulation: Simulation
  readonly #current: { record: RequestRecord | null }
  #sent = 0

  private constructor(simulation: Simulation, current: { record: RequestRecord | null }) {
    this.#simulation = simulation
    this.#current = current
  }

  static async start({ ir, endpoints }: ReplayedConfig, clock: number, hasDetails = false): Promise<Replayer> {
    const current: { record: RequestRecord | null; simulation: Simulation | null } = { record: null, simulation: null }
    const world: World = {
      ...{ clock, seed: 1, env: {}, hosts: {} },
      upstream: () => ({
        refusal: null,
        speaksHttp2: true,
        // Records hold the response of the backend, but not the responses of services that policies call.
        answer: (message) =>
          current.record === null || current.simulation?.endpoint !== message.address
            ? null
            : recordedReply(current.record, message),
      }),
    }
    const options = { hasDetails, ...(endpoints !== undefined && { endpoints }) }
    current.simulation = await Simulation.start(ir, world, options)
    return new Replayer(current.simulation, current)
  }

  /** Sends a recorded request, with the clock at its recorded time. */
  async send(record: RequestRecord, { request, missing }: Replay): Promise<Outcome> {
    this.#current.record = record
    this.#simulation.time.moveTo(record.at)
    // The same seed for both configs gives equal random choices when both configs ask for random numbers in the same order.
    this.#simulation.reseed(++this.#sent)
    return this.#simulation.send(request, missing)
  }
}
