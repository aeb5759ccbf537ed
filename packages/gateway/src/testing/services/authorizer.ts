import type { TestContext } from 'node:test'
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js'
import { CheckRequest, CheckResponse } from '../../protos/envoy/service/auth/v3/external_auth.ts'

export type Check = (request: CheckRequest) => Partial<CheckResponse> | Promise<Partial<CheckResponse>>

interface Authorizer {
  host: string
  seen: CheckRequest[]
  /** The gRPC metadata of each call. */
  metadata: Record<string, unknown>[]
}

/** An external authorizer on the gRPC library itself, as users write them. */
export async function useAuthorizer(t: TestContext, check: Check): Promise<Authorizer> {
  const seen: CheckRequest[] = []
  const metadata: Record<string, unknown>[] = []
  const server = new Server()
  const definition = {
    Check: {
      path: '/envoy.service.auth.v3.Authorization/Check',
      requestStream: false,
      responseStream: false,
      requestSerialize: (request: CheckRequest) => Buffer.from(CheckRequest.encode(request).finish()),
      requestDeserialize: (bytes: Buffer) => CheckRequest.decode(bytes),
      responseSerialize: (response: CheckResponse) => Buffer.from(CheckResponse.encode(response).finish()),
      responseDeserialize: (bytes: Buffer) => CheckResponse.decode(bytes),
    },
  } as const
  server.addService(definition, {
    Check(call: ServerUnaryCall<CheckRequest, CheckResponse>, done: sendUnaryData<CheckResponse>) {
      seen.push(call.request)
      metadata.push(call.metadata.getMap())
      void answer(check, call.request, done)
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  t.after(() => server.forceShutdown())
  return { host: `127.0.0.1:${port}`, seen, metadata }
}

async function answer(check: Check, request: CheckRequest, done: sendUnaryData<CheckResponse>): Promise<void> {
  try {
    done(null, { status: undefined, httpResponse: undefined, dynamicMetadata: undefined, ...(await check(request)) })
  } catch (error) {
    done({ code: 13, details: String(error) })
  }
}

/** Not OK, as authorizers say no. */
export const NO = { status: { code: 7, message: 'no', details: [] } }

export const ok = (response: object): Partial<CheckResponse> => ({
  status: { code: 0, message: '', details: [] },
  httpResponse: {
    $case: 'okResponse',
    value: {
      headers: [],
      headersToRemove: [],
      dynamicMetadata: undefined,
      responseHeadersToAdd: [],
      queryParametersToSet: [],
      queryParametersToRemove: [],
      ...response,
    },
  },
})

export const denied = (response: object): Partial<CheckResponse> => ({
  ...NO,
  httpResponse: { $case: 'deniedResponse', value: { status: undefined, headers: [], body: '', ...response } },
})

export const option = (key: string, value: string, more: object = {}): object => ({
  header: { key, value, rawValue: new Uint8Array() },
  append: undefined,
  appendAction: 0,
  keepEmptyValue: false,
  ...more,
})

/** A header whose value stands in the field for bytes. */
export const bytesOption = (key: string, bytes: readonly number[], more: object = {}): object =>
  option(key, '', { header: { key, value: '', rawValue: Uint8Array.from(bytes) }, ...more })
