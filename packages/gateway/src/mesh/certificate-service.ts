import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { GrpcMethod } from '@portico/http/grpc'

interface CertificateRequest {
  /** Certificate signing request, as PEM. */
  csr: string
  validitySeconds: number
}

/** `CreateCertificate` of the certificate service of Istio. The response is the chain as PEM texts, leaf first. */
export const CREATE_CERTIFICATE: GrpcMethod<CertificateRequest, string[]> = {
  path: '/istio.v1.auth.IstioCertificateService/CreateCertificate',
  encode({ csr, validitySeconds }) {
    const writer = new BinaryWriter().tag(CSR, WireType.LengthDelimited).string(csr)
    return writer.tag(VALIDITY, WireType.Varint).int64(validitySeconds).finish()
  },
  decode(message) {
    const reader = new BinaryReader(message)
    const chain: string[] = []
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag()
      if (field === CHAIN && type === WireType.LengthDelimited) chain.push(reader.string())
      else reader.skip(type, field)
    }
    return chain
  },
}

/** Numbers of the fields. */
const CSR = 1
const VALIDITY = 3
const CHAIN = 1
