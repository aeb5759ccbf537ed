import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { applyChange, EMPTY_IR } from '../../ir/change.ts'
import type { Ir } from '../../ir/resources.ts'
import {
  changeSince,
  type ConfigMessage,
  type ControllerMessage,
  type DataPlaneMessage,
  generationOf,
  hashesOf,
  type Hello,
  LineReader,
  lineOf,
  readDataPlaneLine,
  STREAM_PATH,
} from '../../stream/index.ts'
import { createAuthority, type TestAuthority } from '../certificates.ts'
import { eventually } from '../process.ts'

/** One stream of a data plane, as its controller sees it. */
export class ScriptedStream {
  readonly received: DataPlaneMessage[] = []
  readonly authorization: string
  isClosed = false
  readonly #stream: ServerHttp2Stream
  #sent: Ir = EMPTY_IR
  #base: string | null = null

  constructor(stream: ServerHttp2Stream, authorization: string) {
    this.#stream = stream
    this.authorization = authorization
    const reader = new LineReader(1_000_000, (line) => this.received.push(readDataPlaneLine(line)))
    stream.on('data', (bytes: Buffer) => reader.push(bytes))
    stream.on('error', () => {})
    stream.on('close', () => (this.isClosed = true))
    stream.respond({ ':status': 200 })
  }

  get hello(): Hello {
    const [first] = this.received
    assert.ok(first?.type === 'hello')
    return first
  }

  answers(): DataPlaneMessage[] {
    return this.received.filter(({ type }) => type === 'ack' || type === 'nack')
  }

  send(message: ControllerMessage): void {
    this.#stream.write(lineOf(message))
  }

  sendText(text: string): void {
    this.#stream.write(text)
  }

  /** Checks that the data plane announced this config; the next change is relative to it. */
  knows(ir: Ir): void {
    assert.equal(this.hello.have?.generation, generationOf(ir))
    assert.deepEqual(this.hello.have?.hashes, hashesOf(ir))
    this.#sent = ir
    this.#base = generationOf(ir)
  }

  /** Sends what makes this config of the one before. */
  config(ir: Ir): ConfigMessage {
    const change = changeSince(hashesOf(this.#sent), ir) ?? assert.fail('keys are not unique')
    const message: ConfigMessage = { type: 'config', generation: generationOf(ir), base: this.#base, change }
    assert.deepEqual(applyChange(this.#sent, change).ir, ir)
    this.#sent = ir
    this.#base = message.generation
    this.send(message)
    return message
  }

  /** Waits until the config is acknowledged. */
  async live(ir: Ir): Promise<void> {
    const { generation } = this.config(ir)
    await eventually('the config is acknowledged', () => this.has({ type: 'ack', generation }))
  }

  has(wanted: DataPlaneMessage): boolean {
    return this.received.some((message) => JSON.stringify(message) === JSON.stringify(wanted))
  }

  cut(): void {
    this.#stream.session?.destroy()
  }
}

export interface ScriptedController {
  address: string
  authority: TestAuthority
  caFile: string
  tokenFile: string
  /** All streams that ever began, in order. */
  streams: ScriptedStream[]
  /** The stream of that number, once it has said hello. */
  stream(index: number): Promise<ScriptedStream>
  /** Goes away, with all connections, and comes back at the same address. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Answers the next streams with this status; null accepts them again. */
  refuse(status: number | null): void
}

/** A controller that sends the messages of a test. It stops with the test. */
export async function useController(t: TestContext, name = '127.0.0.1'): Promise<ScriptedController> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-controller-'))
  const authority = createAuthority()
  const [caFile, tokenFile] = [join(folder, 'ca.crt'), join(folder, 'token')]
  writeFileSync(caFile, authority.cert)
  writeFileSync(tokenFile, 'the-token\n')
  const streams: ScriptedStream[] = []
  const sessions = new Set<ServerHttp2Session>()
  let [status, port] = [200, 0]
  const certificate = authority.issue({ names: [name] })
  let server: Http2SecureServer | null = null
  const controller: ScriptedController = {
    get address() {
      return `127.0.0.1:${port}`
    },
    authority,
    caFile,
    tokenFile,
    streams,
    async stream(index) {
      await eventually(`stream ${index} says hello`, () => streams[index]?.received[0]?.type === 'hello')
      return streams[index] ?? assert.fail()
    },
    async stop() {
      const closing = server
      server = null
      if (closing === null) return
      closing.close()
      for (const session of sessions) session.destroy()
      await once(closing, 'close')
    },
    async start() {
      server = createSecureServer({ ...certificate, minVersion: 'TLSv1.3' })
      server.on('session', (session) => {
        sessions.add(session)
        session.on('close', () => sessions.delete(session))
        session.on('error', () => {})
      })
      server.on('stream', (stream: ServerHttp2Stream, headers) => {
        assert.equal(`${headers[':method']} ${headers[':path']}`, `POST ${STREAM_PATH}`)
        if (status === 200) return void streams.push(new ScriptedStream(stream, headers.authorization ?? ''))
        stream.on('error', () => {})
        stream.respond({ ':status': status })
        stream.end('not for you')
      })
      server.on('sessionError', () => {})
      server.on('tlsClientError', () => {})
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
    },
    refuse: (wanted) => void (status = wanted ?? 200),
  }
  await controller.start()
  t.after(async () => {
    await controller.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return controller
}
