import { availableParallelism } from 'node:os'
import type { Schema } from '../../schema/kit.ts'
import type { Problem } from '../../schema/problem.ts'
import { validate } from '../../schema/validate.ts'
import { dnsFields, loggingFields, processFields } from '../config/schema.ts'
import type { ProcessConfig } from '../config/schema.ts'
import type { LocatedProblem } from '../located-problem.ts'
import { plainValue } from '../substitute.ts'
import type { Environment } from '../substitute.ts'

export interface Overrides {
  apply(config: ProcessConfig): ProcessConfig
  problems: LocatedProblem[]
}

/**
 * Variables that win over the `config` block. `TERMINATION_GRACE_PERIOD_SECONDS` only moves the default, so it counts
 * when neither the file nor a variable says how long open work may take.
 */
export function readEnvironment(env: Environment, fileSays: (key: keyof ProcessConfig) => boolean): Overrides {
  const problems: LocatedProblem[] = []
  const changes: ((config: ProcessConfig) => void)[] = []

  function take<T>(
    variable: string,
    schema: Schema<T>,
    set: (config: ProcessConfig, value: T) => void,
    read = asText,
  ): void {
    const text = env[variable]
    if (text === undefined || text === '') return
    const result = validate(schema, read(text))
    if (result.ok) changes.push((config) => set(config, result.value))
    else problems.push(...result.problems.map((problem) => placed(problem, variable, text)))
  }

  take('WORKER_THREADS', processFields.workers, (config, value) => (config.workers = value), asWorkers)
  take('SEPARATE_WORKER', processFields.separateWorker, (config, value) => (config.separateWorker = value), plainValue)
  take('ADMIN_ADDR', processFields.adminAddr, (config, value) => (config.adminAddr = value))
  take('STATS_ADDR', processFields.statsAddr, (config, value) => (config.statsAddr = value))
  take('READINESS_ADDR', processFields.readinessAddr, (config, value) => (config.readinessAddr = value))
  take('IPV6_ENABLED', processFields.enableIpv6, (config, value) => (config.enableIpv6 = value), plainValue)
  take('DNS_LOOKUP_FAMILY', dnsFields.lookupFamily, (config, value) => (config.dns.lookupFamily = value))
  take('LOG_LEVEL', loggingFields.level, (config, value) => (config.logging.level = value))
  take('LOG_FORMAT', loggingFields.format, (config, value) => (config.logging.format = value))
  take('CONNECTION_MIN_TERMINATION_DEADLINE', processFields.connectionMinTerminationDeadline, (config, value) => {
    config.connectionMinTerminationDeadline = value
  })
  if (!env['CONNECTION_TERMINATION_DEADLINE'] && !fileSays('connectionTerminationDeadline')) {
    const longest = processFields.connectionTerminationDeadline
    take(
      'TERMINATION_GRACE_PERIOD_SECONDS',
      longest,
      (config, value) => (config.connectionTerminationDeadline = value),
      asGrace,
    )
  }
  take('CONNECTION_TERMINATION_DEADLINE', processFields.connectionTerminationDeadline, (config, value) => {
    config.connectionTerminationDeadline = value
  })

  return {
    problems,
    apply(config) {
      const copy = structuredClone(config)
      for (const change of changes) change(copy)
      return copy
    },
  }
}

function placed(problem: Problem, variable: string, text: string): LocatedProblem {
  const found = `found ${JSON.stringify(text)}`
  const expected = variable === 'TERMINATION_GRACE_PERIOD_SECONDS' ? 'a whole number of seconds' : problem.expected
  return { ...problem, path: [], found, expected, location: { variable } }
}

function asText(text: string): unknown {
  return text
}

/** `4`, `auto`, or a share of the cores such as `50%`. */
function asWorkers(text: string): unknown {
  const share = /^([0-9]{1,3})%$/.exec(text)
  if (share === null) return plainValue(text)
  return Math.max(1, Math.floor((availableParallelism() * Number(share[1])) / 100))
}

/** The platform kills the process after this many seconds, so work must end a little before. */
function asGrace(text: string): unknown {
  if (!/^[0-9]{1,6}$/.test(text)) return null
  const seconds = Number(text)
  return `${Math.max(1, seconds > 10 ? seconds - 5 : seconds - 1)}s`
}
