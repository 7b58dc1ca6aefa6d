import { badRequest } from '../../../platform/http/errors.ts'
import type { BuiltRequest, Connector, ProviderAnswer, Values } from '../definition.ts'

const url = { type: 'string', maxLength: 2_000, pattern: '^https?://', description: 'A public http or https URL' }

const get = ({ url: target }: Values): BuiltRequest => {
  if (!URL.canParse(String(target))) throw badRequest('url is not a URL.')
  return {
    method: 'GET',
    url: String(target),
    headers: { accept: 'text/html, application/json;q=0.9, text/plain;q=0.9, */*;q=0.5' },
  }
}

const isHtml = ({ contentType }: ProviderAnswer): boolean => /\b(?:html|xhtml\+xml)\b/.test(contentType)

const textOf = ({ body }: ProviderAnswer): string => (typeof body === 'string' ? body : JSON.stringify(body))

export const connector: Connector = {
  slug: 'web',
  name: 'Web',
  description: 'Pages and data on the public web, without any account.',
  auth: { type: 'none' },
  api: {},
  tools: [
    {
      name: 'read_page',
      description: 'Reads a web page as text.',
      input: { url },
      required: ['url'],
      isReadOnly: true,
      request: get,
      answer: async (answer, _input, pages) => {
        const text = textOf(answer)
        const read = isHtml(answer) ? await pages.text(text, answer.url) : { title: null, text, isCut: false }
        return { url: answer.url, title: read.title, text: read.text, truncated: answer.truncated || read.isCut }
      },
    },
    {
      name: 'list_links',
      description: 'Lists where the links of a web page lead to.',
      input: { url },
      required: ['url'],
      isReadOnly: true,
      request: get,
      answer: async (answer, _input, pages) => ({
        url: answer.url,
        links: isHtml(answer) ? await pages.links(textOf(answer), answer.url) : [],
      }),
    },
    {
      name: 'get_json',
      description: 'Reads JSON from a URL.',
      input: { url },
      required: ['url'],
      isReadOnly: true,
      request: get,
      answer: (answer) => {
        if (typeof answer.body === 'string') throw badRequest('There is no JSON at this URL.')
        return { url: answer.url, json: answer.body }
      },
    },
  ],
}
