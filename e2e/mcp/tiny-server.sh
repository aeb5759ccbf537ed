#!/bin/sh
# An MCP server over stdio that costs next to nothing: it starts no other process. Its tool `pid` gives its number.
while IFS= read -r line; do
  case $line in
  *'"id":'*) id=${line#*\"id\":} ;;
  *) continue ;;
  esac
  id=${id%%[,\}]*}
  case $line in
  *'"method":"initialize"'*)
    result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1.0.0"}}'
    ;;
  *'"method":"tools/list"'*)
    result='{"tools":[{"name":"pid","description":"Gives its process id.","inputSchema":{"type":"object"}}]}'
    ;;
  *'"method":"tools/call"'*) result="{\"content\":[{\"type\":\"text\",\"text\":\"$$\"}]}" ;;
  *) result='{}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
