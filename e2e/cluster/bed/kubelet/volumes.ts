import { chmod, chown, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { KubeClient } from '../../../../packages/controller/src/kube/kube-client.ts'
import type { ApiKind } from '../../../../packages/controller/src/kube/kinds.ts'
import { CONFIG_MAPS, dataOf, SECRETS } from './cluster.ts'
import { fieldOf } from './fields.ts'
import type { Item, PodObject, ProjectedSource, Volume } from './pod-types.ts'

const RETRY_MS = 1_000

interface File {
  content: Buffer | string
  mode: number
}

type Files = Map<string, File>

/** The volumes of a Pod as folders. Those of Secrets, ConfigMaps and tokens are written anew when these change. */
export class Volumes {
  readonly #client: KubeClient
  readonly #pod: PodObject
  readonly #folder: string
  readonly #address: string
  #writing: Promise<void> = Promise.resolve()
  #renewal: NodeJS.Timeout | undefined
  #writes = 0
  #isClosed = false

  constructor(client: KubeClient, pod: PodObject, folder: string, address: string) {
    this.#client = client
    this.#pod = pod
    this.#folder = folder
    this.#address = address
  }

  folderOf(name: string): string {
    const volume = this.#pod.spec.volumes?.find((one) => one.name === name)
    return volume?.hostPath?.path ?? join(this.#folder, name)
  }

  /** Writes them all; one at a time. */
  write(): Promise<void> {
    const written = this.#writing.then(() => this.#writeAll())
    this.#writing = written.catch(() => undefined)
    return written
  }

  /** Whether a volume has something of this object. */
  uses(kind: ApiKind, name: string): boolean {
    return (this.#pod.spec.volumes ?? []).some(({ secret, configMap, projected }) => {
      const sources = [{ secret: secret && { name: secret.secretName }, configMap }, ...(projected?.sources ?? [])]
      return sources.some((source) => (kind === SECRETS ? source.secret : source.configMap)?.name === name)
    })
  }

  /** Writes them again after a change, and tries until it works: no other event would bring the change. */
  rewrite(): void {
    if (this.#isClosed) return
    this.write().catch((error: unknown) => {
      console.error(this.#pod.metadata.name, error)
      if (!this.#isClosed) this.#rewriteIn(RETRY_MS)
    })
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#renewal)
  }

  async #writeAll(): Promise<void> {
    let renewAfterSeconds = Infinity
    for (const volume of this.#pod.spec.volumes ?? []) {
      const folder = this.folderOf(volume.name)
      if (volume.hostPath !== undefined) continue
      await mkdir(folder, { recursive: true })
      await chmod(folder, 0o777)
      const files = await this.#filesOf(volume)
      if (files !== undefined) await this.#replace(folder, files)
      for (const { serviceAccountToken: token } of volume.projected?.sources ?? []) {
        if (token !== undefined)
          renewAfterSeconds = Math.min(renewAfterSeconds, (token.expirationSeconds ?? 3600) * 0.8)
      }
    }
    clearTimeout(this.#renewal)
    if (!this.#isClosed && renewAfterSeconds !== Infinity) this.#rewriteIn(renewAfterSeconds * 1000)
  }

  #rewriteIn(ms: number): void {
    clearTimeout(this.#renewal)
    this.#renewal = setTimeout(() => this.rewrite(), ms)
  }

  async #filesOf(volume: Volume): Promise<Files | undefined> {
    const { secret, configMap, downwardAPI, projected } = volume
    if (secret !== undefined) {
      const source = { secret: { ...secret, name: secret.secretName } }
      return this.#sourceFiles(source, secret.defaultMode)
    }
    if (configMap !== undefined) return this.#sourceFiles({ configMap }, configMap.defaultMode)
    if (downwardAPI !== undefined) return this.#sourceFiles({ downwardAPI }, downwardAPI.defaultMode)
    if (projected === undefined) return undefined
    const files: Files = new Map()
    for (const source of projected.sources ?? []) {
      for (const [path, file] of await this.#sourceFiles(source, projected.defaultMode)) files.set(path, file)
    }
    return files
  }

  async #sourceFiles(source: ProjectedSource, mode = 0o644): Promise<Files> {
    const { secret, configMap, downwardAPI, serviceAccountToken } = source
    const { namespace } = this.#pod.metadata
    if (secret !== undefined)
      return chosen(await dataOf(this.#client, SECRETS, { namespace, ...secret }), secret.items, mode)
    if (configMap !== undefined) {
      return chosen(await dataOf(this.#client, CONFIG_MAPS, { namespace, ...configMap }), configMap.items, mode)
    }
    if (serviceAccountToken !== undefined) {
      return new Map([[serviceAccountToken.path, { content: await this.#token(serviceAccountToken), mode }]])
    }
    return new Map(
      (downwardAPI?.items ?? []).map(({ path, fieldRef }) => [
        path,
        { content: fieldOf(this.#pod, this.#address, fieldRef?.fieldPath ?? ''), mode },
      ]),
    )
  }

  async #token({
    audience,
    expirationSeconds = 3600,
  }: NonNullable<ProjectedSource['serviceAccountToken']>): Promise<string> {
    const { namespace, name, uid } = this.#pod.metadata
    const account = this.#pod.spec.serviceAccountName ?? 'default'
    const answer = (await this.#client.ask({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {
          ...(audience !== undefined && { audiences: [audience] }),
          expirationSeconds,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
        },
      },
    })) as { status: { token: string } }
    return answer.status.token
  }

  /** All at once, as programs that watch the folder expect: the names are links through `..data`, which is exchanged. */
  async #replace(folder: string, files: Files): Promise<void> {
    const fresh = `..${Date.now()}-${(this.#writes += 1)}`
    for (const [path, { content, mode }] of files) {
      const file = join(folder, fresh, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content, { mode })
      await chmod(file, this.#group === undefined ? mode : mode | 0o040)
      if (this.#group !== undefined) await chown(file, 0, this.#group)
    }
    await mkdir(join(folder, fresh), { recursive: true })
    // An attempt that failed here may have left the link.
    await rm(join(folder, '..new'), { force: true })
    await symlink(fresh, join(folder, '..new'))
    await rename(join(folder, '..new'), join(folder, '..data'))
    const tops = new Set([...files.keys()].map((path) => path.split('/')[0] ?? ''))
    const there = await readdir(folder)
    for (const name of tops) if (!there.includes(name)) await symlink(join('..data', name), join(folder, name))
    const isOld = (name: string): boolean =>
      name.startsWith('..') ? ![fresh, '..data'].includes(name) : !tops.has(name)
    for (const name of there.filter(isOld)) await rm(join(folder, name), { recursive: true, force: true })
  }

  get #group(): number | undefined {
    return this.#pod.spec.securityContext?.fsGroup
  }
}

function chosen(data: ReadonlyMap<string, Buffer>, items: readonly Item[] | undefined, mode: number): Files {
  if (items === undefined) return new Map([...data].map(([key, content]) => [key, { content, mode }]))
  return new Map(
    items.map(({ key, path, mode: own }) => {
      const content = data.get(key)
      if (content === undefined) throw new Error(`there is no key ${key}`)
      return [path, { content, mode: own ?? mode }]
    }),
  )
}
