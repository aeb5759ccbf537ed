import type { ConfigSource } from '../config/config-source.ts'
import { controllerSettings } from '../controller/controller-settings.ts'
import { BAD_CONFIG, failWith } from '../program/exit-codes.ts'
import { identityOf } from '../telemetry/identity.ts'
import { Program } from '../program/program.ts'
import { beginStart } from '../workers/start-flags.ts'
import { Reloader } from '../config/reloader.ts'
import { firstProblems } from '../../sources/print-problems.ts'
import { planWorkers } from '../workers/worker-settings.ts'
import { parseLogFilter } from '../../telemetry/log/log-filter.ts'

/** Runs the gateway until a signal ends it; resolves with the exit code. */
export async function serve(source: ConfigSource): Promise<number> {
  // `start` is a separate function because this one lives as long as the gateway and would keep the loaded config in memory.
  const program = await start(source)
  return typeof program === 'number' ? program : program.untilEnd()
}

/** Starts the gateway; returns the exit code when the start fails. */
async function start(source: ConfigSource): Promise<Program | number> {
  const { path, memory = null } = source
  const reloader = path === null && memory === null ? null : new Reloader(source)
  beginStart()
  const loaded = await source.load()
  if (!loaded.ok) return failWith(BAD_CONFIG, firstProblems(loaded.problems).join('\n'))
  reloader?.watch(loaded)
  const filter = parseLogFilter(loaded.process.logging.level)
  if (!filter.ok) return failWith(BAD_CONFIG, filter.problem)
  const identity = identityOf(process.env, loaded.gateway)
  const controller = controllerSettings(process.env, identity)
  if (controller !== null && 'problems' in controller) return failWith(BAD_CONFIG, controller.problems.join('\n'))
  if (controller !== null && loaded.endpoints !== undefined) return failWith(BAD_CONFIG, NO_MANIFESTS)
  const place = { path: path ?? '', memory, name: source.name, isManifests: loaded.text === undefined }
  const plan = planWorkers(loaded.process, { isQuickStart: source.guide !== null, isControlled: controller !== null })
  const program = new Program(loaded.process, filter.value, { reloader, identity, controller, plan, ...place })
  return (await program.start(loaded, source)) ?? program
}

const NO_MANIFESTS = 'CONTROLLER_ADDR: found manifests to run beside it, expected a config file or none'
