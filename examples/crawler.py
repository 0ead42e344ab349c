"""A crawler that leaves a part of a site when the pages there repeat each other: a calendar without an end, one list in a hundred orders.

    dupsieve serve --store store --create &
    python3 examples/crawler.py --most 5 https://example.com/

`NearDuplicates` is all that another crawler needs. `Middleware` is for Scrapy: copy this file beside settings.py, and say there

    DOWNLOADER_MIDDLEWARES = {"project.crawler.Middleware": 543}    # behind redirects and compression
    NEAR_DUPLICATES = 5

Needs the standard library only."""

import argparse
import collections
import html.parser
import json
import urllib.error
import urllib.parse
import urllib.request


class NearDuplicates:
    """Counts, by a service of dupsieve, how many near-duplicates of a page were crawled before."""

    def __init__(self, service="http://127.0.0.1:8373"):
        self.service = service

    def count(self, url, text):
        """The pages of which this one is a near-duplicate, and their copies of earlier days. All pages are remembered, so that the next one is compared with this one."""
        body = json.dumps({"remember": "all", "pages": [{"id": url, "text": text}]}).encode()
        request = urllib.request.Request(f"{self.service}/v1/pages", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            answer = json.load(answer)["answers"][0]
        return sum(1 + page.get("copies", 0) for page in answer["near"]) + answer.get("more", 0)


class Middleware:
    """For Scrapy: a page with NEAR_DUPLICATES others goes to no spider, so no link of the page is followed."""

    def __init__(self, most, service):
        self.most, self.near_duplicates = most, NearDuplicates(service)

    @classmethod
    def from_crawler(cls, crawler):
        settings = crawler.settings
        return cls(settings.getint("NEAR_DUPLICATES", 5), settings.get("DUPSIEVE", "http://127.0.0.1:8373"))

    def process_response(self, request, response, spider=None):
        from scrapy.exceptions import IgnoreRequest

        # Pictures, robots.txt, redirects and errors are no pages.
        if response.status != 200 or not response.headers.get("Content-Type", b"").startswith(b"text/html"):
            return response
        if self.near_duplicates.count(response.url, Page(response.text).text) >= self.most:
            raise IgnoreRequest(f"{response.url} has {self.most} near-duplicates")
        return response


class Page(html.parser.HTMLParser):
    """The text and the links of a page."""

    def __init__(self, source):
        super().__init__()
        self.hidden, self.parts, self.links = 0, [], []
        self.feed(source)
        self.text = " ".join(self.parts)

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("script", "style")
        self.links += [link for name, link in attributes if (tag, name) == ("a", "href") and link]

    def handle_endtag(self, tag):
        self.hidden = max(0, self.hidden - (tag in ("script", "style")))

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def crawl(start, near_duplicates, most):
    """Gives each page of the site with its near-duplicates. Links are followed of pages that have fewer than `most`."""
    host = urllib.parse.urlsplit(start).netloc
    waiting, met = collections.deque([start]), {start}
    while waiting:
        url = waiting.popleft()
        try:
            with urllib.request.urlopen(url, timeout=30) as response:
                if response.headers.get_content_type() != "text/html":
                    continue
                source = response.read().decode(response.headers.get_content_charset() or "utf-8", "replace")
        except (urllib.error.URLError, ValueError) as failure:
            print(f"{url}: {failure}")
            continue
        page = Page(source)
        count = near_duplicates.count(url, page.text)
        yield url, count
        if count >= most:
            continue
        for link in page.links:
            link = urllib.parse.urldefrag(urllib.parse.urljoin(url, link)).url
            if urllib.parse.urlsplit(link).netloc == host and link not in met:
                met.add(link)
                waiting.append(link)


if __name__ == "__main__":
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("start", metavar="URL")
    flags.add_argument("--most", type=int, default=5, help="follow no link of a page with so many near-duplicates")
    flags.add_argument("--service", default="http://127.0.0.1:8373")
    flags = flags.parse_args()
    for url, count in crawl(flags.start, NearDuplicates(flags.service), flags.most):
        print(f"{url}: {count} near-duplicates")
