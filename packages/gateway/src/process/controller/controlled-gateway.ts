import type { Ir } from '../../ir/resources.ts'
import { ControllerSource } from '../../sources/controller/controller.ts'
import { KeptConfig } from '../../stream/kept-config.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import { VERSION } from '../../version.ts'
import type { ControllerSettings } from './controller-settings.ts'
import type { Gateway } from '../config/gateway.ts'
import { MergedConfig } from './merged-config.ts'
import type { ReloadTarget } from '../config/reloader.ts'
import type { Supervisor } from '../workers/supervisor.ts'

export interface ControlledGatewayOptions {
  settings: ControllerSettings
  gateway: Gateway
  supervisor: Pick<Supervisor, 'isListening' | 'watchListening'>
  /** The config of the file, which is live already. */
  file: { ir: Ir; name: string }
  /** The keys that encrypt the config on disk, newest first. */
  sessionKeys: readonly string[]
  collector: Collector
  log: Logger
}

/** A data plane: runs the config of its file and that of its controller together. */
export class ControlledGateway {
  readonly #source: ControllerSource
  /** The target of the reloader for changes of the file. */
  readonly file: ReloadTarget

  constructor({ settings, gateway, supervisor, file, sessionKeys, collector, log }: ControlledGatewayOptions) {
    const { stateFolder, ...connection } = settings
    const names = { file: file.name, controller: `Gateway ${settings.gateway} of the controller` }
    const joint = new MergedConfig(gateway, names, file.ir)
    this.file = {
      services: gateway.services,
      get generation() {
        return gateway.generation
      },
      apply: (ir, explain) => joint.apply('file', ir, explain),
      refused: (problems) => joint.refused('file', problems),
    }
    const keptFor = { keys: sessionKeys, gateway: settings.gateway, log }
    this.#source = new ControllerSource({
      ...connection,
      version: VERSION,
      target: {
        services: gateway.services,
        apply: (ir, explain) => joint.apply('controller', ir, explain),
        quarantined: () => joint.quarantined,
        isServing: () => supervisor.isListening,
      },
      kept: stateFolder === null ? null : new KeptConfig({ folder: stateFolder, ...keptFor }),
      log,
    })
    supervisor.watchListening(() => this.#source.checkServing())
    provideMetrics(this.#source, collector)
  }

  start(): Promise<void> {
    return this.#source.start()
  }

  /** Whether any config of the controller is live. */
  get isLive(): boolean {
    return this.#source.generation !== null
  }

  /** The state of the connection, for the config dump. */
  describe(): object {
    const { isConnected, generation, ageSeconds, counts } = this.#source
    return { connected: isConnected, generation, ageSeconds, ...counts }
  }

  hold(): void {
    this.#source.hold()
  }

  close(): Promise<void> {
    return this.#source.close()
  }
}

function provideMetrics(source: ControllerSource, collector: Collector): void {
  collector.provide('controller_connected', [], () => (source.isConnected ? 1 : 0))
  collector.provideAll('controller_config_age_seconds', () => {
    const { ageSeconds } = source
    return source.generation === null || ageSeconds === null ? [] : [[[], ageSeconds]]
  })
  for (const result of ['received', 'acked', 'nacked'] as const) {
    collector.provide('controller_configs_total', [result], () => source.counts[result])
  }
}
