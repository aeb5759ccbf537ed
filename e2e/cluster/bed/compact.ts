import type { Bed } from './bed.ts'

/** Lets etcd forget all but what is. */
export async function compact(bed: Bed): Promise<{ revision: number }> {
  const url = `http://127.0.0.1:${await bed.reach('127.0.0.1', 2379)}`
  const ask = async (path: string, body: object): Promise<unknown> =>
    (await fetch(url + path, { method: 'POST', body: JSON.stringify(body), headers: { connection: 'close' } })).json()
  const { header } = (await ask('/v3/kv/range', { key: 'AA==' })) as { header: { revision: string } }
  await ask('/v3/kv/compaction', { revision: header.revision, physical: true })
  return { revision: Number(header.revision) }
}
