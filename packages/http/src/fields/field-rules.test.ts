import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isConnectionField, isForwardingHeader, isGrpcContentType, mayBeTrailer } from './field-rules.ts'

test('fields that claim an address, host or scheme are known in every spelling, and no others', () => {
  for (const name of ['forwarded', 'x-forwarded-for', 'x_forwarded.host', 'x.real-ip', 'x-real_ip']) {
    assert.equal(isForwardingHeader(name), true, name)
    assert.equal(mayBeTrailer(name), false, name)
  }
  for (const name of ['', 'from', 'forward', 'forwarded-for', 'x-forward', 'x-real-ips', 'xx', 'a-forwarded', 'g']) {
    assert.equal(isForwardingHeader(name), false, name)
    assert.equal(mayBeTrailer(name), true, name)
  }
})

test('fields that policies read must not be trailers', () => {
  for (const name of ['authorization', 'cookie', 'content-type', 'set-cookie']) assert.equal(mayBeTrailer(name), false)
  for (const name of ['grpc-status', 'etag', 'x-checksum']) assert.equal(mayBeTrailer(name), true)
})

test('hop-by-hop fields and host belong to the connection', () => {
  for (const name of ['connection', 'te', 'upgrade', 'host']) assert.equal(isConnectionField(name), true)
  for (const name of ['accept', 'authorization', 'content-length']) assert.equal(isConnectionField(name), false)
})

test('gRPC messages are recognized by their content type', () => {
  for (const type of ['application/grpc', 'application/grpc+proto', 'APPLICATION/GRPC;charset=x'])
    assert.equal(isGrpcContentType(type), true, type)
  for (const type of ['application/grpc-web', 'text/application/grpc', 'application/json', ''])
    assert.equal(isGrpcContentType(type), false, type)
})
