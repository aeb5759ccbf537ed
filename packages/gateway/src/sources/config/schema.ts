import { list, Refusal, object, scalar } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { listenAddress } from '../../schema/fields/hosts.ts'
import { logFilter } from '../../schema/fields/names.ts'
import { meshFields } from '../../schema/fields/mesh.ts'
import { postgres } from '../../stores/postgres/schema.ts'
import { redis } from '../../stores/redis/schema.ts'
import { secretValue } from '../../schema/fields/auth/credential.ts'
import { atLeastOneOf, exactlyOneOf, onlyWith } from '../../schema/rules.ts'
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
    .describe(
      'Number of workers that serve traffic; `auto` is one for each available core. A single worker shares the main thread, see `separateWorker`.',
    ),
  separateWorker: boolean()
    .optional()
    .describe(
      'Whether the only worker has a thread beside the main thread, which then has the admin server and reads configs. True with a controller unless set; two or more workers always have threads of their own.',
    ),
  adminAddr: listenAddress().prefault('localhost:15000').describe('Address of the admin server.'),
  statsAddr: listenAddress().prefault('0.0.0.0:15020').describe('Address of the metrics server.'),
  readinessAddr: listenAddress().prefault('0.0.0.0:15021').describe('Address of the readiness server.'),
  enableIpv6: boolean()
    .prefault(true)
    .describe('Whether ports without an address also listen on IPv6, and names may resolve to IPv6 addresses.'),
  connectionMinTerminationDeadline: duration({ max: '1h' })
    .prefault('0s')
    .describe('On shutdown, the gateway keeps accepting connections for this long, so that load balancers can react.'),
  connectionTerminationDeadline: duration({ max: '24h' })
    .prefault('5s')
    .describe('On shutdown, time after that for open requests to finish before they are closed.'),
}

export const loggingFields = {
  level: logFilter().prefault('info').describe('Log level, or levels by module: `info,upstream=debug`.'),
  format: enumeration(['text', 'json']).prefault('text').describe('Format of log lines.'),
}

export const dnsFields = {
  lookupFamily: enumeration(['All', 'Auto', 'V4Preferred', 'V4Only', 'V6Only'])
    .prefault('Auto')
    .describe('IP versions of resolved addresses; `Auto` is `V4Preferred` with IPv6 enabled and `V4Only` without.'),
}

const adminToken = object(
  {
    name: string(
      { min: 1, max: 63 },
      {
        pattern: /^[a-z0-9][a-z0-9.-]*$/,
        expected: 'a name of up to 63 lower-case letters, digits, dots and dashes',
      },
    ).describe('Name of the token in the list of changes, in messages and in the web UI.'),
    scope: enumeration(['Read', 'Write']).describe(
      '`Read` sees what the admin API shows; `Write` may also change something, or send requests.',
    ),
    secretRef: secretValue({ min: 16, max: 1_024 })
      .optional()
      .describe('The token: in a file (`{file: path}`), in an environment variable (`{env: NAME}`), or inline.'),
    hash: string(
      { min: 71, max: 71 },
      { pattern: /^sha256:[0-9a-f]{64}$/, expected: '`sha256:` and 64 lower-case hexadecimal digits' },
    )
      .optional()
      .describe('SHA-256 hash of the token, in place of the token itself: `sha256:<hex>`.'),
  },
  [exactlyOneOf('secretRef', 'hash')],
).describe('A token of the admin server.')

export const processConfig = object(
  {
    ...processFields,
    logging: object(loggingFields).prefault({}).describe('Log settings.'),
    dns: object(dnsFields).prefault({}).describe('DNS settings.'),
    session: object({
      keyFile: string({ min: 1, max: 4_096 })
        .optional()
        .describe(
          'File with the key that encrypts MCP session ids, relative to this file; it is created if missing. `SESSION_KEY` takes precedence. Without either, the key is in the state folder of the user.',
        ),
    })
      .prefault({})
      .describe('Settings of MCP sessions.'),
    stateDir: string({ min: 1, max: 4_096 })
      .optional()
      .describe(
        'Folder for what must survive a restart, relative to this file: the amounts that budgets have spent, the ledger, and API keys. It is created if missing. Without it, budgets begin anew with each start.',
      ),
    stores: object({
      redis: redis
        .optional()
        .describe(
          'A Redis or Valkey server, in which gateways share the budgets of model calls: see [Stores](../stores.md). Without it, each gateway counts by itself.',
        ),
      postgres: postgres
        .optional()
        .describe(
          'A PostgreSQL database, in which gateways share the ledger, API keys and teams: see [Stores](../stores.md). Without it, these are in files in `stateDir`.',
        ),
    })
      .optional()
      .describe('Servers that several gateways share.'),
    ledger: object({
      retention: duration({ min: '1h', max: '87600h' })
        .prefault('2160h')
        .describe('Entries that are older are removed; the default is 90 days.'),
      rollupRetention: duration({ min: '1h', max: '175200h' })
        .prefault('26280h')
        .describe('Sums of each hour are kept for this time, and never shorter than entries; the default is 3 years.'),
    })
      .optional()
      .describe(
        'Keeps an entry of each model call, with tokens and cost, in `stateDir` or in `stores.postgres`: see [Ledger](../ledger.md). Without it, there is no ledger.',
      ),
    keys: object({
      maxKeys: integer({ min: 1, max: 500_000 })
        .prefault(10_000)
        .describe(
          'Number of keys that have room in memory, with teams, and with the old keys of rotations. Each takes about 200 bytes, shared by all workers.',
        ),
      gracePeriod: duration({ min: '0s', max: '24h' })
        .prefault('5m')
        .describe(
          'While `stores.postgres` does not answer, keys that are loaded stay valid for this time; other keys are refused at once.',
        ),
    })
      .optional()
      .describe(
        'Keeps API keys and teams in `stateDir`, or in `stores.postgres`; the admin API and `porticoctl keys` change them while the gateway runs: see [Keys](../keys.md).',
      ),
    admin: object({
      tokens: list(adminToken, { max: 64, uniqueBy: 'name' })
        .optional()
        .describe(
          'Tokens of the admin server, beside `ADMIN_TOKEN`. With one, every request to the admin server needs a token. A config reload applies changes of the list.',
        ),
    })
      .optional()
      .describe('Access to the admin server: see [Tokens](../admin-api.md#tokens).'),
    verify: object(
      {
        tests: string({ min: 1, max: 4_096 })
          .optional()
          .describe('File of tests of this config, relative to this file: see [Test a config](../testing-configs.md).'),
        backtest: object({
          maxNewlyDenied: integer({ min: 0, max: 1_000_000 })
            .prefault(0)
            .describe('Number of recorded requests that may be refused now although they passed.'),
          last: duration({ min: '1m', max: '168h' })
            .prefault('1h')
            .describe('Requests of this time are decided again.'),
          limit: integer({ min: 1, max: 100_000 })
            .prefault(5_000)
            .describe('Largest number of requests, the newest ones.'),
        })
          .optional()
          .describe('Decides recorded requests with the new config: see [Back-tests](../backtest.md).'),
        timeout: duration({ min: '1s', max: '10m' })
          .prefault('30s')
          .describe('Time for tests and back-test together; a config that takes longer is rejected.'),
      },
      [atLeastOneOf('tests', 'backtest')],
    )
      .optional()
      .describe(
        'Verifies this config at the start and at each reload, before it becomes active: see [Verified reloads](../verified-reloads.md).',
      ),
    ui: object({
      edit: boolean()
        .prefault(false)
        .describe('Whether clients with `ADMIN_TOKEN`, or a token with the scope `Write`, may change this file.'),
    })
      .prefault({})
      .describe('Settings of the web UI and its API.'),
    backend: object({
      connectTimeout: duration({ min: '100ms' })
        .prefault('10s')
        .describe('Timeout of connecting to a backend, including the TLS handshake.'),
      poolIdleTimeout: duration({ min: '1s' }).prefault('90s').describe('Idle connections are closed after this time.'),
      poolMaxSize: integer({ min: 0, max: 1_000_000 })
        .optional()
        .describe('Largest number of idle connections for each destination and worker; no limit when unset.'),
    })
      .prefault({})
      .describe('Defaults for connections to backends.'),
    mesh: object(meshFields)
      .optional()
      .describe('Makes the gateway a workload of an Istio mesh, with a certificate from the CA of the mesh.'),
  },
  [onlyWith('ledger', 'stateDir'), onlyWith('keys', 'stateDir')],
)

/**
 * The settings of the process. A config reload applies `admin` and `verify` only; the other settings are read at
 * startup.
 */
export type ProcessConfig = Output<typeof processConfig>
