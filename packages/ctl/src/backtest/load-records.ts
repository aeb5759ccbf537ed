import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { readRecord, type RequestRecord } from '@portico/gateway/backtest'
import { openAdmin, readAll, refusal } from '../requests/ask-admin.ts'
import type { AdminAddress } from '../trace/admin-address.ts'

export type RecordsResult = { readonly records: RequestRecord[] } | { readonly problem: string }

/** Reads exported records from a file with one record per line. */
export async function readRecords(path: string, limit: number): Promise<RecordsResult> {
  try {
    return await recordsIn(createReadStream(path), path, limit)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return { problem: `${path} cannot be read: ${code}` }
  }
}

interface DownloadOptions {
  readonly token: string | null
  /** The age of the oldest record to download, such as `1h`; null for no limit. */
  readonly last: string | null
  readonly limit: number
}

/** Downloads the newest records of all admin servers. */
export async function downloadRecords(
  admins: readonly AdminAddress[],
  { token, last, limit }: DownloadOptions,
): Promise<RecordsResult> {
  const path = `/api/requests/download${last === null ? '' : `?since=${last}`}`
  const all: RequestRecord[] = []
  for (const admin of admins) {
    const opened = await openAdmin({ admin, token, path }, ANSWER_WITHIN_MS)
    if (opened.kind === 'problem') return opened
    const { response } = opened
    if (response.statusCode !== 200) {
      return { problem: refusal({ admin, token, path }, response, await readAll(response)) }
    }
    try {
      const found = await recordsIn(response, admin.label, limit)
      if ('problem' in found) return found
      all.push(...found.records)
    } catch (error) {
      return { problem: `${admin.label} broke off: ${(error as Error).message}` }
    }
  }
  return { records: all.toSorted((a, b) => b.at - a.at).slice(0, limit) }
}

/** Reads at most `limit` records, the newest first. */
async function recordsIn(stream: Readable, name: string, limit: number): Promise<RecordsResult> {
  const records: RequestRecord[] = []
  let number = 0
  try {
    for await (const lines of linesOf(stream)) {
      for (const line of lines) {
        number++
        if (line.trim() === '') continue
        const record = parsed(line)
        if (typeof record === 'string') return { problem: `${name}:${number}: ${record}` }
        records.push(record)
        if (records.length === limit) return { records }
      }
    }
  } finally {
    stream.destroy()
  }
  return { records }
}

/** Yields the lines of a text in groups: one for each chunk of the stream. */
async function* linesOf(stream: Readable): AsyncGenerator<string[]> {
  const decoder = new StringDecoder()
  let rest = ''
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
  yield [rest + decoder.end()]
}

function parsed(line: string): RequestRecord | string {
  try {
    return readRecord(JSON.parse(line))
  } catch {
    return 'expected a record, a JSON object'
  }
}

const ANSWER_WITHIN_MS = 30_000
