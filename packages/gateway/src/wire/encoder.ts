import { BinaryWriter } from '@bufbuild/protobuf/wire'

/** Encodes one message after the other into memory that is used again: a writer of its own for each would grow anew. */
export function encoderOf<Message>(
  encode: (message: Message, writer: BinaryWriter) => BinaryWriter,
): (message: Message) => Uint8Array {
  let writer = new BinaryWriter()
  return (message) => {
    try {
      const bytes = encode(message, writer).finish()
      if (bytes.length > MAX_KEPT) writer = new BinaryWriter()
      return bytes
    } catch (error) {
      // It still has the half of a message.
      writer = new BinaryWriter()
      throw error
    }
  }
}

/** One long message must not keep its memory for ever. */
const MAX_KEPT = 64 * 1024
