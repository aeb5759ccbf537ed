import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { createAuthority } from '../../testing/certificates.ts'
import { eventually } from '../../testing/process.ts'
import { noPostgres, PostgresServer } from '../testing/postgres-server.ts'
import { describeStore, entryOf } from '../testing/store-contract.ts'
import { PostgresConnection } from './connection.ts'
import { migrate } from './migrations.ts'
import { PostgresLedger } from './postgres-ledger.ts'
import type { PostgresSettings } from './postgres-settings.ts'

const ALL = { by: [], since: 0, until: Number.MAX_SAFE_INTEGER }

describe('a PostgreSQL database', { skip: noPostgres }, () => {
  let server: PostgresServer
  before(async () => {
    server = await PostgresServer.create()
  })
  after(() => server.remove())

  /** Opens stores that are closed with the test. */
  const useOpen = (t: TestContext) => {
    const stop = new AbortController()
    t.after(() => stop.abort())
    return {
      open: (settings: PostgresSettings) => PostgresLedger.open(settings, stop.signal),
      connect: (settings: PostgresSettings) => PostgresConnection.open(settings, { signal: stop.signal }),
    }
  }

  const useStore = (t: TestContext) => {
    const settings = server.settings()
    const { open } = useOpen(t)
    return () => open(settings)
  }
  describeStore('PostgreSQL', useStore, { quick: 8, full: 60 })

  test('is migrated once by gateways that open it together', async (t) => {
    const { open } = useOpen(t)
    const settings = server.settings()
    const stores = await Promise.all(Array.from({ length: 5 }, () => open(settings)))
    const added = await Promise.all(stores.map((store) => store.add([entryOf('a')])))
    assert.equal(
      added.reduce((sum, count) => sum + count),
      1,
    )
  })

  test('with a newer schema is refused by its name, and stays as it is', async (t) => {
    const { open } = useOpen(t)
    const settings = server.settings()
    ;(await open(settings)).close()
    await server.run(`UPDATE ${settings.schema}.schema_version SET version = 7`)
    const name = `schema ${settings.schema} of database postgres at 127.0.0.1:${server.port}`
    await assert.rejects(open(settings), ({ message }: Error) => {
      return message.startsWith(`${name} has version 7, and this program knows versions up to `)
    })
    assert.deepEqual(await server.run(`SELECT version FROM ${settings.schema}.schema_version`), [{ version: 7 }])
  })

  test('keeps the schema before a step that fails', async (t) => {
    const { connect } = useOpen(t)
    const settings = server.settings()
    const steps = ['CREATE TABLE portico.a (b integer)', 'CREATE TABLE portico.c (d integer); SELECT nobody']
    await migrate(await connect(settings), settings, steps.slice(0, 1))
    await assert.rejects(migrate(await connect(settings), settings, steps), /"nobody" does not exist/)
    assert.deepEqual(
      await server.run(`SELECT version, to_regclass('${settings.schema}.c') FROM ${settings.schema}.schema_version`),
      [{ version: 1, to_regclass: null }],
    )
  })

  test('needs no right to change a schema that is up to date, and says which right is missing', async (t) => {
    const { open } = useOpen(t)
    const settings = server.settings()
    const { schema } = settings
    await server.run(`CREATE ROLE writer_${schema} LOGIN PASSWORD 'x'; CREATE ROLE reader_${schema} LOGIN PASSWORD 'x'`)
    const writer = { ...settings, user: `writer_${schema}`, password: 'x' }
    await assert.rejects(open(writer), /permission denied for database postgres/)
    ;(await open(settings)).close()
    const tables = `ALL TABLES IN SCHEMA ${schema}`
    await server.run(`GRANT USAGE ON SCHEMA ${schema} TO writer_${schema}, reader_${schema};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables} TO writer_${schema}; GRANT SELECT ON ${tables} TO reader_${schema}`)
    const store = await open(writer)
    assert.equal(await store.add([entryOf('a')]), 1)
    const reader = await open({ ...settings, user: `reader_${schema}`, password: 'x' })
    await assert.rejects(reader.add([entryOf('b')]), /permission denied for table ledger/)
    assert.equal((await reader.usage(ALL)).sums[0]?.calls, 1)
  })

  test('that is full or read-only takes nothing, and works again afterwards', async (t) => {
    const { open } = useOpen(t)
    const settings = server.settings()
    const store = await open(settings)
    const { schema } = settings
    await server.run(`CREATE FUNCTION ${schema}.fill() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON ${schema}.usage_hours EXECUTE FUNCTION ${schema}.fill()`)
    await assert.rejects(store.add([entryOf('a')]), /No space left on device/)
    await server.run(`DROP TRIGGER fill ON ${schema}.usage_hours`)
    assert.deepEqual((await store.usage(ALL)).sums, [])
    // A text of several statements is a transaction, which ALTER SYSTEM refuses.
    await server.run('ALTER SYSTEM SET default_transaction_read_only = on')
    await server.run('SELECT pg_reload_conf()')
    t.after(async () => {
      await server.run('ALTER SYSTEM RESET default_transaction_read_only')
      await server.run('SELECT pg_reload_conf()')
    })
    let problem = ''
    while (problem === '') {
      const next = await open(settings)
      problem = await next.add([entryOf(`${Math.random()}`)]).then(
        () => '',
        (error: Error) => error.message,
      )
    }
    assert.match(problem, /cannot execute \w+ in a read-only transaction/)
  })

  test('refuses a wrong password, which no message has', async (t) => {
    const { open } = useOpen(t)
    const wrong = open(server.settings({ password: 'hunter2' }))
    await assert.rejects(wrong, ({ message, stack = '' }: Error) => {
      assert.match(message, /^PostgreSQL at 127\.0\.0\.1:[0-9]+: password authentication failed for user "portico"$/)
      return !stack.includes('hunter2')
    })
    process.env['PGPASSWORD'] = 'only-for-tests'
    t.after(() => delete process.env['PGPASSWORD'])
    await assert.rejects(open(server.settings({ password: '' })), /password must be a non-empty string/)
  })

  test('that does not answer costs no more than the time limit', async (t) => {
    const { open } = useOpen(t)
    const settings = server.settings({ timeoutMs: 300 })
    const store = await open({ ...settings, timeoutMs: 10_000 })
    store.close()
    const limited = await open(settings)
    server.pause()
    t.after(() => server.resume())
    const startedAt = performance.now()
    await assert.rejects(limited.add([entryOf('a')]), /a statement took longer than 300 ms/)
    await assert.rejects(limited.add([entryOf('a')]), /the connection to PostgreSQL was closed/)
    await assert.rejects(open(settings), /connecting took longer than 300 ms/)
    assert.ok(performance.now() - startedAt < 10_000)
    server.resume()
    const again = await open({ ...settings, timeoutMs: 10_000 })
    await again.add([entryOf('a')])
    assert.equal((await again.usage(ALL)).sums[0]?.calls, 1)
  })

  test('with a locked table gets no more connections from a gateway that tries again', async (t) => {
    const { open, connect } = useOpen(t)
    const settings = server.settings({ timeoutMs: 10_000 })
    const { schema } = settings
    await (await open(settings)).add([entryOf('a')])
    const holder = await connect(settings)
    await holder.query(`BEGIN; LOCK TABLE ${schema}.ledger IN ACCESS EXCLUSIVE MODE`)
    for (let i = 0; i < 5; i++) {
      const store = await open({ ...settings, timeoutMs: 300 })
      await assert.rejects(store.add([entryOf('b')]), /took longer than 300 ms|statement timeout/)
      store.close()
    }
    const waiting = `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    await eventually('nobody waits for the lock', async () => (await server.run(waiting))[0]?.['waiting'] === 0, 5_000)
    await holder.query('ROLLBACK')
    const store = await open(settings)
    assert.equal(await store.add([entryOf('b')]), 1)
  })

  test('is reached through TLS only if its certificate is for its name', async (t) => {
    const { open } = useOpen(t)
    const authority = createAuthority()
    const settings = server.settings()
    await assert.rejects(
      open({ ...settings, isTls: true }),
      /the server has no TLS; sslmode=disable connects without it/,
    )
    await server.restartWithTls(authority.issue({ names: ['localhost'] }))
    const byName = { ...settings, host: 'localhost', isTls: true, ca: authority.cert }
    const store = await open(byName)
    assert.equal(await store.add([entryOf('a')]), 1)
    const found = await server.run(
      'SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE query ~ $$ledger$$ AND pid <> pg_backend_pid()',
    )
    assert.deepEqual(found, [{ ssl: true }])
    await assert.rejects(open({ ...byName, ca: createAuthority().cert }), /unable to verify|self-signed|signature/)
    await assert.rejects(open({ ...byName, ca: null }), /unable to verify|self-signed|unable to get/)
    await assert.rejects(open({ ...byName, host: '127.0.0.1' }), /does not match certificate/)
  })
})

test('an address without a server is a problem with the address', async () => {
  const settings = {
    port: 1,
    isTls: true,
    ca: null,
    password: '',
    user: 'u',
    database: 'd',
    schema: 's',
    timeoutMs: 5_000,
  }
  const { signal } = new AbortController()
  await assert.rejects(
    PostgresLedger.open({ ...settings, host: '127.0.0.1' }, signal),
    /^Error: PostgreSQL at 127\.0\.0\.1:1: .*ECONNREFUSED/,
  )
  await assert.rejects(
    PostgresLedger.open({ ...settings, host: 'localhost' }, signal),
    /^Error: PostgreSQL at localhost:1: .*ECONNREFUSED/,
  )
  await assert.rejects(PostgresLedger.open({ ...settings, host: 'localhost' }, AbortSignal.abort()), /aborted/)
})
