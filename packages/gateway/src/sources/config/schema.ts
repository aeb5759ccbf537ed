import { Refusal, object, scalar } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { listenAddress } from '../../schema/fields/hosts.ts'
import { logFilter } from '../../schema/fields/names.ts'
import { boolean, duration, enumeration, integer, string } from '../../schema/fields/values.ts'

const mostWorkers = 256

/** Settings of the process, each also the home of an environment variable. */
export const processFields = {
  workers: scalar<number | 'auto'>(
    (input) => {
      if (input === 'auto') return input
      if (typeof input !== 'number' || !Number.isSafeInteger(input)) return new Refusal('wrong_type')
      return input >= 1 && input <= mostWorkers ? input : new Refusal('out_of_range')
    },
    {
      type: 'integer or `auto`',
      expected: `\`auto\` or an integer from 1 to ${mostWorkers}`,
      json: { anyOf: [{ const: 'auto' }, { type: 'integer', minimum: 1, maximum: mostWorkers }] },
    },
  )
    .prefault('auto')
    .describe('Threads that carry traffic; `auto` is one for each available core.'),
  adminAddr: listenAddress().prefault('localhost:15000').describe('Address of the admin server.'),
  statsAddr: listenAddress().prefault('0.0.0.0:15020').describe('Address of the metrics server.'),
  readinessAddr: listenAddress().prefault('0.0.0.0:15021').describe('Address of the readiness server.'),
  enableIpv6: boolean()
    .prefault(true)
    .describe('Whether ports without an address are opened for IPv6 too, and names may resolve to IPv6.'),
  connectionMinTerminationDeadline: duration({ max: '1h' })
    .prefault('0s')
    .describe('On shutdown, how long nothing changes, so that load balancers notice.'),
  connectionTerminationDeadline: duration({ max: '24h' })
    .prefault('5s')
    .describe('On shutdown, how long after that open work may take before it is cut.'),
}

export const loggingFields = {
  level: logFilter().prefault('info').describe('Log level, or levels by module: `info,upstream=debug`.'),
  format: enumeration(['text', 'json']).prefault('text').describe('Form of log lines.'),
}

export const dnsFields = {
  lookupFamily: enumeration(['All', 'Auto', 'V4Preferred', 'V4Only', 'V6Only'])
    .prefault('Auto')
    .describe('Which addresses of a name are used; `Auto` is `V4Preferred` with IPv6 and `V4Only` without.'),
}

export const processConfig = object({
  ...processFields,
  logging: object(loggingFields).prefault({}).describe('The log.'),
  dns: object(dnsFields).prefault({}).describe('Name resolution.'),
  session: object({
    keyFile: string({ min: 1, max: 4_096 })
      .optional()
      .describe(
        'File with the key that seals MCP session ids, made when it is missing; relative to this file. `SESSION_KEY` wins; without either a key is kept in the state folder of the user.',
      ),
  })
    .prefault({})
    .describe('Sessions of MCP clients.'),
  ui: object({
    edit: boolean()
      .prefault(false)
      .describe('Whether this file may be changed through the admin server, by who shows its token (`ADMIN_TOKEN`).'),
  })
    .prefault({})
    .describe('The web UI and its API.'),
  backend: object({
    connectTimeout: duration({ min: '100ms' })
      .prefault('10s')
      .describe('Longest time to connect to a backend, with the TLS handshake.'),
    poolIdleTimeout: duration({ min: '1s' }).prefault('90s').describe('How long an unused connection is kept.'),
    poolMaxSize: integer({ min: 0, max: 1_000_000 })
      .optional()
      .describe('Most unused connections kept for each destination and worker; no limit when unset.'),
  })
    .prefault({})
    .describe('Defaults for connections to backends.'),
})

/** Settings that are read at start, and only then. */
export type ProcessConfig = Output<typeof processConfig>
