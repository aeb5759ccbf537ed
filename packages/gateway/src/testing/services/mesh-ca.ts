import { createPublicKey } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall, status } from '@grpc/grpc-js'
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { type CertificateRequest, createAuthority, type TestAuthority } from '../certificates.ts'

/** A request that the CA received. */
interface CaRequest {
  csr: string
  validitySeconds: number
  token: string
  clusterId: string
}

interface TestMeshCa {
  authority: TestAuthority
  port: number
  /** Files with the root and the token, which tests may change. */
  rootFile: string
  tokenFile: string
  requests: CaRequest[]
  /** Changes the certificates from now on. */
  issue: CertificateRequest
  /** Replaces the response, when set. */
  respond: ((request: CaRequest) => string[]) | null
  /** The message for a wrong token. */
  refusal: (token: string) => string
  stop(): Promise<void>
  start(): Promise<void>
}

const MESH_TOKEN = 'token-of-edge'

/** A mesh CA with the wire format of Istio, on the library of gRPC. It accepts one token alone. */
export async function useMeshCa(t: TestContext, issue: CertificateRequest): Promise<TestMeshCa> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-mesh-'))
  const authority = createAuthority('Mesh CA')
  let server: Server | null = null
  const ca: TestMeshCa = {
    authority,
    port: 0,
    rootFile: join(folder, 'root-cert.pem'),
    tokenFile: join(folder, 'token'),
    requests: [],
    issue,
    respond: null,
    refusal: () => 'request authenticate failure',
    async stop() {
      server?.forceShutdown()
      server = null
    },
    async start() {
      server = new Server()
      server.addService(SERVICE, { CreateCertificate: create })
      const { cert, key } = authority.issue({ names: ['127.0.0.1'] })
      const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }
      const credentials = ServerCredentials.createSsl(null, [pair])
      const bound = Promise.withResolvers<number>()
      server.bindAsync(`127.0.0.1:${ca.port}`, credentials, (error, port) =>
        error === null ? bound.resolve(port) : bound.reject(error),
      )
      ca.port = await bound.promise
    },
  }
  function create({ request, metadata }: ServerUnaryCall<CaRequest, string[]>, done: sendUnaryData<string[]>): void {
    const token = String(metadata.get('authorization')[0]).replace(/^Bearer /, '')
    const received = { ...request, token, clusterId: String(metadata.get('clusterid')[0]) }
    ca.requests.push(received)
    if (token !== MESH_TOKEN) return done({ code: status.UNAUTHENTICATED, details: ca.refusal(token) })
    if (ca.respond !== null) return done(null, ca.respond(received))
    done(null, [authority.issue({ ...ca.issue, publicKey: publicKeyOf(request.csr) }).cert, authority.cert])
  }
  writeFileSync(ca.rootFile, authority.cert)
  writeFileSync(ca.tokenFile, `${MESH_TOKEN}\n`)
  t.after(async () => {
    await ca.stop()
    rmSync(folder, { recursive: true })
  })
  await ca.start()
  return ca
}

/** The key of a request, which is a P-256 key: 91 bytes behind the fixed head of its kind. */
function publicKeyOf(csr: string) {
  const bytes = Buffer.from(csr.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
  const start = bytes.indexOf(Buffer.from('3059301306072a8648ce3d0201', 'hex'))
  return createPublicKey({ key: bytes.subarray(start, start + 91), format: 'der', type: 'spki' })
}

function readRequest(bytes: Buffer): Pick<CaRequest, 'csr' | 'validitySeconds'> {
  const reader = new BinaryReader(bytes)
  const request = { csr: '', validitySeconds: 0 }
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === 1) request.csr = reader.string()
    else if (field === 3) request.validitySeconds = Number(reader.int64())
    else reader.skip(type, field)
  }
  return request
}

const SERVICE = {
  CreateCertificate: {
    path: '/istio.v1.auth.IstioCertificateService/CreateCertificate',
    requestStream: false,
    responseStream: false,
    requestSerialize: () => Buffer.alloc(0),
    requestDeserialize: readRequest,
    responseSerialize(chain: string[]) {
      const writer = new BinaryWriter()
      for (const pem of chain) writer.tag(1, WireType.LengthDelimited).string(pem)
      return Buffer.from(writer.finish())
    },
    responseDeserialize: () => [],
  },
}
