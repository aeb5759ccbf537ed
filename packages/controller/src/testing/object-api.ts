import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { Resource } from '@portico/translate'
import { answer, type ReceivedRequest, failCall, type ScriptedApi, useScriptedApi } from './scripted-api.ts'

/** An API server with stored objects: lists, watches, creation, merge patches with versions, and deletion. */
export interface ObjectApi extends ScriptedApi {
  put(resource: Resource & { status?: unknown }): Resource
  get(path: string): (Resource & { status?: unknown }) | undefined
  drop(path: string): void
  /** Removes a kind from the server, or adds it, by the path of its list. */
  setMissing(path: string, isMissing: boolean): void
  /** Ends the watches of a kind, by the path of its list. */
  cut(path: string): void
  /** Answers requests for which it returns true; all others are answered as usual. */
  intercept: (asked: ReceivedRequest, response: ServerResponse) => boolean
}

export async function useObjectApi(t: TestContext, plurals: Readonly<Record<string, string>>): Promise<ObjectApi> {
  const objects = new Map<string, Resource>()
  const watchers = new Map<string, Map<ServerResponse, Watching>>()
  const missing = new Set<string>()
  const history: { type: string; object: Resource; version: number }[] = []
  let version = 0

  const listPathOf = ({ apiVersion, kind }: Resource): string =>
    `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/${plurals[kind]}`
  const pathOf = (resource: Resource): string => {
    const { namespace, name } = resource.metadata
    const list = listPathOf(resource)
    const slash = list.lastIndexOf('/')
    const inside = namespace === undefined ? '' : `/namespaces/${namespace}`
    return `${list.slice(0, slash)}${inside}${list.slice(slash)}/${name}`
  }
  const isIn = (object: Resource, path: string): boolean => pathOf(object) === `${path}/${object.metadata.name}`
  const tell = (type: string, object: Resource): void => {
    history.push({ type, object, version })
    const own = pathOf(object)
    const paths = new Set([listPathOf(object), own.slice(0, own.lastIndexOf('/'))])
    for (const [response, { selector, form }] of [...paths].flatMap((path) => [...(watchers.get(path) ?? [])]))
      if (isSelected(object, selector)) response.write(`${JSON.stringify({ type, object: form(object) })}\n`)
  }
  const put = (resource: Resource): Resource => {
    const path = pathOf(resource)
    const known = objects.get(path)
    version += 1
    const metadata = { uid: `uid-${version}`, ...known?.metadata, ...resource.metadata, resourceVersion: `${version}` }
    const stored = { ...resource, metadata }
    objects.set(path, stored)
    tell(known === undefined ? 'ADDED' : 'MODIFIED', stored)
    return stored
  }

  const api = await useScriptedApi(t, (asked, response) => {
    if (scene.intercept(asked, response)) return
    serve(asked, response)
  })
  const serve = (asked: ReceivedRequest, response: ServerResponse): void => {
    const { method, path, query } = asked
    if (missing.has(path)) return failCall(response, 404, 'no such kind')
    const target = path.replace(/\/status$/, '')
    const known = objects.get(target)
    const labels = query.get('labelSelector') ?? ''
    const form = asked.headers.accept?.includes('as=PartialObjectMetadata') === true ? metadataOf : asItIs
    if (method === 'PATCH' && asked.headers['content-type'] === 'application/apply-patch+yaml')
      return answer(response, 200, put({ ...known, ...(asked.body as Resource) }))
    if (method === 'PATCH') {
      if (known === undefined) return failCall(response, 404, 'not found')
      const { metadata, status } = asked.body as { metadata?: { resourceVersion?: string }; status?: object }
      if (metadata?.resourceVersion !== undefined && metadata.resourceVersion !== known.metadata.resourceVersion)
        return failCall(response, 409, 'conflict')
      const before = Reflect.get(known, 'status') as object | undefined
      const merged = Object.entries({ ...before, ...status }).filter(([, value]) => value !== null)
      return answer(response, 200, put({ ...known, ...{ status: Object.fromEntries(merged) } }))
    }
    if (method === 'POST') return answer(response, 201, { ...(asked.body as object) })
    if (known !== undefined) return answer(response, 200, known)
    if (!Object.values(plurals).includes(path.split('/').at(-1) ?? '')) return failCall(response, 404, 'not found')
    if (query.get('watch') !== 'true') {
      const inside = path.replace(/\/namespaces\/[^/]+/, '')
      const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1]
      const items = [...objects.values()]
        .filter((object) => listPathOf(object) === inside && isSelected(object, labels))
        .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      const from = Number(query.get('continue') ?? 0)
      const to = Math.min(items.length, from + Number(query.get('limit') ?? items.length))
      const rest = to < items.length ? { continue: `${to}` } : {}
      const page = items.slice(from, to).map(form)
      return answer(response, 200, { metadata: { resourceVersion: `${version}`, ...rest }, items: page })
    }
    const open = watchers.get(path) ?? new Map<ServerResponse, Watching>()
    watchers.set(path, open.set(response, { selector: labels, form }))
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    for (const { type, object, version: at } of history) {
      if (at <= Number(query.get('resourceVersion')) || !(listPathOf(object) === path || isIn(object, path))) continue
      if (isSelected(object, labels)) response.write(`${JSON.stringify({ type, object: form(object) })}\n`)
    }
    response.on('close', () => open.delete(response))
  }
  const scene: ObjectApi = {
    ...api,
    put,
    get: (path) => objects.get(path),
    drop(path) {
      const known = objects.get(path)
      if (known === undefined) return
      objects.delete(path)
      version += 1
      tell('DELETED', { ...known, metadata: { ...known.metadata, resourceVersion: `${version}` } })
    },
    setMissing(path, isMissing) {
      if (isMissing) missing.add(path)
      else missing.delete(path)
    },
    cut(path) {
      for (const response of watchers.get(path)?.keys() ?? []) response.end()
    },
    intercept: () => false,
  }
  return scene
}

interface Watching {
  selector: string
  form: (object: Resource) => Resource
}

function asItIs(object: Resource): Resource {
  return object
}

function metadataOf({ metadata }: Resource): Resource {
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata }
}

function isSelected({ metadata: { labels } }: Resource, selector: string): boolean {
  return selector
    .split(',')
    .filter(Boolean)
    .every((part) => {
      const [name = '', value] = part.split('=')
      return labels?.[name] === value
    })
}
