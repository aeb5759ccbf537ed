import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Watches } from '../../packages/controller/src/watch/watches.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import type { Kind } from '../../packages/translate/src/index.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { crdReleases, CRDS, withoutCrds } from './bed/programs.ts'

const PATIENCE_MS = 300_000
const GROUP = 'gateway.networking.k8s.io'

/** The version of each kind that is read, for the kinds whose version differs between releases; null when missing. */
type Versions = Readonly<Partial<Record<Kind, string | null>>>

const newest: Versions = { ListenerSet: 'v1', TLSRoute: 'v1', TCPRoute: 'v1', ReferenceGrant: 'v1' }

const versions: Readonly<Record<'standard' | 'experimental', Readonly<Record<string, Versions>>>> = {
  standard: {
    'v1.4.1': { ListenerSet: null, TLSRoute: null, TCPRoute: null, ReferenceGrant: 'v1beta1' },
    'v1.5.1': { ...newest, TCPRoute: null },
    'v1.6.3': newest,
    'v1.7.0': newest,
  },
  experimental: {
    'v1.4.1': { ListenerSet: null, TLSRoute: 'v1alpha3', TCPRoute: 'v1alpha2', ReferenceGrant: 'v1beta1' },
    'v1.5.1': { ...newest, TCPRoute: 'v1alpha2' },
    'v1.6.3': newest,
    'v1.7.0': newest,
  },
}

for (const channel of ['standard', 'experimental'] as const) {
  describe(`CRDs of the ${channel} channel`, { skip: withoutCrds }, () => {
    let bed: Bed
    before(async () => {
      bed = await startBed({ parts: 'api', gatewayApi: 'none' })
    })
    after(async () => bed.stop())

    it('are read in every release, and while one follows the other', async () => {
      const lasting = startWatches(bed)
      // Missing kinds are waited for, and block nothing.
      await eventually('all kinds are read or missing', () => lasting.watches.isReady, PATIENCE_MS)
      for (const [index, release] of Object.keys(crdReleases).entries()) {
        await install(release)
        await bed.apply(route(release))
        const started = startWatches(bed)
        const wanted = versions[channel][release] ?? {}
        await eventually(`${release}: all kinds are read`, () => started.watches.isReady, PATIENCE_MS)
        const read = Object.keys(wanted) as Kind[]
        assert.deepEqual(
          Object.fromEntries(read.map((kind) => [kind, started.watches.apiOf(kind)?.version ?? null])),
          wanted,
          release,
        )
        await started.stop()
        // The watches of the release before go on, also in a version that is not the newest.
        await eventually(
          `${release}: the objects of all releases are there`,
          () =>
            lasting.watches.count('HTTPRoute') === index + 1 &&
            read.every((kind) => (lasting.watches.apiOf(kind) === null) === (wanted[kind] === null)),
          PATIENCE_MS,
        )
      }
      await lasting.stop()
    })

    async function install(release: string): Promise<void> {
      const folder = join(CRDS, release, channel)
      const names = readdirSync(folder).filter((name) => name.startsWith('gateway.'))
      await bed.apply(...names.map((name) => readFileSync(join(folder, name), 'utf8')))
      await bed.kubectl('wait', '--for=condition=Established', '--timeout=120s', 'crd', `httproutes.${GROUP}`)
    }
  })
}

function startWatches({ client }: Bed): { watches: Watches; stop(): Promise<void> } {
  const end = new AbortController()
  const nothing = (): void => undefined
  const watches = new Watches({
    client,
    ownNamespace: 'default',
    changed: nothing,
    unservedChanged: nothing,
    ready: nothing,
    onError: nothing,
    reflector: { missingMs: 250 },
  })
  const ended = watches.run(end.signal)
  return {
    watches,
    async stop() {
      end.abort()
      await ended
    },
  }
}

function nameOf(release: string): string {
  return `of-${release.replaceAll('.', '-')}`
}

function route(release: string): object {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'HTTPRoute',
    metadata: { name: nameOf(release), namespace: 'default' },
    spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'web', port: 80 }] }] },
  }
}
