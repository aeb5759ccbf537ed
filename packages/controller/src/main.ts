import { onEndSignal } from '@portico/gateway/end-signals'
import { releaseMemoryWhenIdle } from '@portico/gateway/idle-memory'
import { createLogger, LineWriter, parseLogFilter, type RootLogger } from '@portico/gateway/log'
import { HELP } from './options.ts'
import { run } from './run.ts'
import { parseCommand, type Settings } from './settings.ts'
import { VERSION } from './version.ts'

const OK = 0
const FAILED = 1
const BAD_USAGE = 2

/** Runs the program; resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const command = parseCommand(args, process.env)
  switch (command.kind) {
    case 'help':
      process.stdout.write(HELP)
      return OK
    case 'version':
      process.stdout.write(`portico-controller ${VERSION}\n`)
      return OK
    case 'mistake':
      return failUsage(command.message)
    case 'run':
      return start(command.settings)
  }
}

async function start(settings: Settings): Promise<number> {
  const filter = parseLogFilter(settings.logLevel)
  if (!filter.ok) return failUsage(filter.problem)
  const writer = new LineWriter()
  const logger: RootLogger = createLogger({
    filter: filter.value,
    format: settings.logFormat,
    write: writer.write,
  })
  const log = logger.child('controller')
  const stop = new AbortController()
  onEndSignal(process, (times) => {
    // A second signal exits at once.
    if (times > 1) process.exit(FAILED)
    log.info('stopping')
    stop.abort()
  })
  // The first sync and bursts of changes take twice the memory that is needed afterwards.
  releaseMemoryWhenIdle()
  try {
    await run({ settings, logger, signal: stop.signal })
    log.info('stopped')
    return OK
  } catch (error) {
    log.error('controller failed', { error })
    return FAILED
  } finally {
    await writer.flush()
  }
}

function failUsage(message: string): number {
  process.stderr.write(`portico-controller: ${message}\n(portico-controller --help lists the options)\n`)
  return BAD_USAGE
}
