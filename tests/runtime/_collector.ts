/** A collector of OpenTelemetry spans in the test process: OTLP over HTTP, as JSON. */

/** A received span. */
export interface ArrivedSpan {
  readonly scope: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly status: { readonly code: number; readonly message: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
}

/** A running collector. */
export interface Collector extends AsyncDisposable {
  /** Environment variables that make a Deno process send its spans here. */
  readonly env: Readonly<Record<string, string>>;
  readonly spans: readonly ArrivedSpan[];
  /** Returns the names of the services that sent spans. */
  readonly services: ReadonlySet<unknown>;
}

interface Attributes {
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

type RawSpan = Omit<ArrivedSpan, "attributes" | "links"> & Attributes & {
  readonly links: readonly (Attributes & { readonly traceId: string; readonly spanId: string })[];
};

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: Attributes;
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly RawSpan[];
    }[];
  }[];
}

/** Starts a collector on a free loopback port. */
export function startCollector(): Collector {
  const spans: ArrivedSpan[] = [];
  const services = new Set<unknown>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const body = await request.text();
    if (new URL(request.url).pathname === "/v1/traces") take(JSON.parse(body));
    return Response.json({});
  });
  function take({ resourceSpans }: TraceRequest): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      services.add(valuesOf(resource)["service.name"]);
      for (const { scope, spans: some } of scopeSpans) {
        for (const span of some) {
          const links = span.links.map((link) => ({ ...link, attributes: valuesOf(link) }));
          spans.push({ ...span, scope: scope.name, attributes: valuesOf(span), links });
        }
      }
    }
  }
  return {
    spans,
    services,
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.addr.port}`,
      OTEL_SERVICE_NAME: "note-operator",
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function valuesOf({ attributes }: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
