import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grpcStatusOfReset, isGrpcContentType } from './grpc.ts'

test('resets become the statuses of the table of the gRPC protocol', () => {
  const statuses = Array.from({ length: 15 }, (_, code) => grpcStatusOfReset(code))
  assert.deepEqual(statuses, [13, 13, 13, 13, 13, 13, 13, 14, 1, 13, 13, 8, 7, 13, 13])
  assert.equal(grpcStatusOfReset(null), 14)
})

test('messages of gRPC are told by their type', () => {
  for (const type of ['application/grpc', 'application/grpc+proto', 'APPLICATION/GRPC;charset=x'])
    assert.equal(isGrpcContentType(type), true, type)
  for (const type of ['application/grpc-web', 'text/application/grpc', 'application/json', ''])
    assert.equal(isGrpcContentType(type), false, type)
})
